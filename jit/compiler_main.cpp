// barracuda-compiler FLAGS...: compiles the PTX of its standard input and answers on its standard
// output (jit/answer.h). A process of its own, because NVIDIA's compiler calls abort() when one of
// several threads finds an error: that is an answer as well.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <nvPTXCompiler.h>

#include "jit/answer.h"

namespace barracuda::jit {
namespace {

std::string read_input() {
  std::string text;
  std::vector<char> part(std::size_t{1} << 20);
  ssize_t got = 0;
  while ((got = read(STDIN_FILENO, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Verdict verdict_of(nvPTXCompileResult result) {
  switch (result) {
    case NVPTXCOMPILE_SUCCESS:
      return Verdict::kCompiled;
    case NVPTXCOMPILE_ERROR_COMPILATION_FAILURE:
    case NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION:
    case NVPTXCOMPILE_ERROR_UNSUPPORTED_DEVSIDE_SYNC:
      return Verdict::kRefused;
    case NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE:
    case NVPTXCOMPILE_ERROR_INVALID_INPUT:
    case NVPTXCOMPILE_ERROR_INTERNAL:
    case NVPTXCOMPILE_ERROR_OUT_OF_MEMORY:
    case NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE:
    case NVPTXCOMPILE_ERROR_CANCELLED:
      break;
  }
  return Verdict::kFailed;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_answer(Verdict verdict, std::string_view code, std::string_view message) {
  Answer answer;
  constexpr std::string_view kVersion = BARRACUDA_PTX_COMPILER_VERSION;
  static_assert(kVersion.size() < answer.compiler_version.size());
  std::ranges::copy(kVersion, answer.compiler_version.begin());
  answer.verdict = verdict;
  answer.message_bytes = static_cast<std::uint32_t>(message.size());
  answer.code_bytes = code.size();
  return write_all({reinterpret_cast<const char*>(&answer), sizeof answer}) && write_all(code) &&
         write_all(message);
}

// What was said last stands on standard error, which is a file in memory.
void answer_abort(int /*signal*/) {
  std::array<char, 4096> said{};
  const ssize_t bytes = pread(STDERR_FILENO, said.data(), said.size(), 0);
  const std::string_view message(said.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const bool is_verdict =
      message.find("ptxas") != message.npos && message.find("emory allocation") == message.npos;
  (void)write_answer(is_verdict ? Verdict::kRefused : Verdict::kFailed, {}, message);
  _exit(1);
}

struct Compiled {
  nvPTXCompileResult result{};
  std::string code, message;
};

Compiled compile(const std::string& text, int count, const char* const* flags) {
  Compiled compiled;
  nvPTXCompilerHandle compiler = nullptr;
  compiled.result = nvPTXCompilerCreate(&compiler, text.size(), text.c_str());
  if (compiled.result != NVPTXCOMPILE_SUCCESS) {
    return compiled;
  }
  compiled.result = nvPTXCompilerCompile(compiler, count, flags);
  std::size_t bytes = 0;
  if (compiled.result == NVPTXCOMPILE_SUCCESS) {
    compiled.result = nvPTXCompilerGetCompiledProgramSize(compiler, &bytes);
    compiled.code.resize(bytes);
    if (compiled.result == NVPTXCOMPILE_SUCCESS) {
      compiled.result = nvPTXCompilerGetCompiledProgram(compiler, compiled.code.data());
    }
  } else if (nvPTXCompilerGetErrorLogSize(compiler, &bytes) == NVPTXCOMPILE_SUCCESS && bytes != 0) {
    compiled.message.resize(bytes + 1);
    (void)nvPTXCompilerGetErrorLog(compiler, compiled.message.data());
    compiled.message.resize(compiled.message.find('\0'));
  }
  (void)nvPTXCompilerDestroy(&compiler);
  return compiled;
}

}  // namespace
}  // namespace barracuda::jit

int main(int count, char** arguments) {
  using namespace barracuda::jit;  // NOLINT(google-build-using-namespace): main has no other place
  (void)dup2(memfd_create("said", 0), STDERR_FILENO);
  (void)std::signal(SIGABRT, answer_abort);
  const Compiled compiled = compile(read_input(), count - 1, arguments + 1);
  const Verdict verdict = verdict_of(compiled.result);
  const bool is_compiled = verdict == Verdict::kCompiled;
  return write_answer(verdict, is_compiled ? compiled.code : "", compiled.message) ? EXIT_SUCCESS
                                                                                   : EXIT_FAILURE;
}
