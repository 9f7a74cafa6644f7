// What barracuda-compiler writes to its standard output: this header, then the machine code, then
// the compiler's messages. Both sides are built together; the version of NVIDIA's compiler is part
// of it because the file beside the library may come from elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace barracuda::jit {

enum class Verdict : std::uint32_t {
  kCompiled = 1,
  kRefused = 2,  // and it would be refused again
  kFailed = 3,   // for reasons that may pass, such as memory
};

struct Answer {
  std::array<char, 8> magic{'B', 'A', 'R', 'R', 'J', 'I', 'T', '1'};
  std::array<char, 16> compiler_version{};
  Verdict verdict{};
  std::uint32_t message_bytes = 0;
  std::uint64_t code_bytes = 0;
};

static_assert(offsetof(Answer, magic) == 0 && offsetof(Answer, compiler_version) == 8 &&
              offsetof(Answer, verdict) == 24 && offsetof(Answer, message_bytes) == 28 &&
              offsetof(Answer, code_bytes) == 32);
static_assert(sizeof(Answer) == 40, "it travels through a pipe as it lies in memory");

}  // namespace barracuda::jit
