// NVIDIA's PTX compiler in a process of its own, barracuda-compiler: whatever happens to it does
// not touch the program. The program sees neither the child nor its end: no SIGCHLD, nothing for
// wait().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/answer.h"

namespace barracuda::jit {

// Functions are compiled once for all kernels of a text and are called as the ABI has it, where
// else each kernel gets a copy of each hook that is made for it: three to six times as fast, and
// hooks are written so that they lose nothing by it (docs/decisions/jit-cache.md).
inline constexpr std::string_view kFastCompile = "--Ofast-compile=min";
// "=0" to "=4"; the compiler takes none of them but 1 together with the above.
inline constexpr std::string_view kLevel = "--opt-level";

struct Compilation {
  Verdict verdict = Verdict::kFailed;
  std::string code;     // where it was compiled
  std::string message;  // why not, or not as it was asked for
};

class Compiler {
 public:
  // The compiler's file.
  explicit Compiler(std::string path) : path_(std::move(path)) {}

  // Empty where this build has no compiler.
  static std::string_view version();

  [[nodiscard]] bool exists() const;

  // Compiles with so many threads (0: one for each core); without optimisation where it is refused
  // with it, as modules are loaded that the driver compiles. Thread-safe.
  [[nodiscard]] Compilation compile(std::string_view text, const std::vector<std::string>& flags,
                                    std::size_t threads = 0) const;

 private:
  [[nodiscard]] Compilation run(std::string_view text, const std::vector<std::string>& flags) const;

  std::string path_;
};

}  // namespace barracuda::jit
