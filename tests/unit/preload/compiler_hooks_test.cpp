// NVRTC's compiler may be called with more than the program asked for, and the program must not see
// it.
#include "preload/compiler_hooks.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace barracuda::preload {
namespace {

constexpr int kCompilationFailed = 6;

std::vector<std::vector<std::string>> g_calls;
bool g_takes_lines = true;

// In NVRTC's place: what it is called with, and whether it compiles.
int compile(void* /*program*/, int count, const char* const* options) {
  const std::vector<std::string> given(options, options + count);
  g_calls.push_back(given);
  for (const std::string& option : given) {
    if ((option == "-lineinfo" && !g_takes_lines) || option == "--no-such-option") {
      return kCompilationFailed;
    }
  }
  return 0;
}

int compiled_with(std::vector<const char*> options) {
  g_calls.clear();
  auto* const hook = reinterpret_cast<CompileProgram*>(
      find_compiler_hook("nvrtcCompileProgram", reinterpret_cast<void*>(&compile)));
  REQUIRE(hook != nullptr);
  return hook(nullptr, static_cast<int>(options.size()), options.data());
}

using Calls = std::vector<std::vector<std::string>>;

TEST_CASE("NVRTC is asked for lines, once, where the program does not ask itself") {
  g_takes_lines = true;
  CHECK(compiled_with({"-arch=sm_90"}) == 0);
  CHECK(g_calls == Calls{{"-arch=sm_90", "-lineinfo"}});
  CHECK(compiled_with({"--generate-line-info"}) == 0);
  CHECK(g_calls == Calls{{"--generate-line-info"}});
  CHECK(compiled_with({}) == 0);
  CHECK(g_calls == Calls{{"-lineinfo"}});
}

TEST_CASE("what does not compile with lines is compiled as the program wants it") {
  g_takes_lines = false;
  CHECK(compiled_with({"-arch=sm_90"}) == 0);
  CHECK(g_calls == Calls{{"-arch=sm_90", "-lineinfo"}, {"-arch=sm_90"}});
  CHECK(compiled_with({"--no-such-option"}) == kCompilationFailed);
  CHECK(g_calls.back() == std::vector<std::string>{"--no-such-option"});
  g_takes_lines = true;
}

}  // namespace
}  // namespace barracuda::preload
