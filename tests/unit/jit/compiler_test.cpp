#include "jit/compiler.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/unit/jit/example.h"

namespace barracuda::jit {
namespace {

volatile std::sig_atomic_t g_children_ended = 0;

void count_child(int /*signal*/) {
  g_children_ended = g_children_ended + 1;
}

bool is_elf(std::string_view code) {
  return code.starts_with(
      "\x7f"
      "ELF");
}

}  // namespace

TEST_CASE("the compiler makes machine code of PTX") {
  REQUIRE(example_compiler().exists());
  const Compilation compilation = example_compiler().compile(example_text(), example_flags());
  CHECK(compilation.verdict == Verdict::kCompiled);
  CHECK(is_elf(compilation.code));
  CHECK(compilation.code == example_compiler().compile(example_text(), example_flags()).code);
}

TEST_CASE("flags of the compiler change its code") {
  auto flags = example_flags();
  flags.emplace_back("--opt-level=0");
  const Compilation unoptimised = example_compiler().compile(example_text(), flags);
  REQUIRE(unoptimised.verdict == Verdict::kCompiled);
  CHECK(unoptimised.code != example_compiler().compile(example_text(), example_flags()).code);
}

TEST_CASE("what is wrong with a text is said, and that it will be refused again") {
  const std::string text = GENERATE(as<std::string>(), "no PTX",
                                    ".version 8.0\n.target sm_90\n.address_size 64\nwrong;\n",
                                    ".version 99.0\n.target sm_90\n.address_size 64\n");
  const Compilation compilation = example_compiler().compile(text, example_flags());
  CHECK(compilation.verdict == Verdict::kRefused);
  CHECK(compilation.code.empty());
  CHECK_THAT(compilation.message, Catch::StartsWith("ptxas") && !Catch::Contains("\n"));
}

TEST_CASE("a flag that the compiler does not know is a refusal") {
  const Compilation compilation =
      example_compiler().compile(example_text(), {"--gpu-name=sm_90", "--no-such-flag"});
  CHECK(compilation.verdict == Verdict::kRefused);
}

TEST_CASE("a compiler that cannot be started, or is another program, is a failure that may pass") {
  const Compiler missing("/no/such/compiler");
  CHECK_FALSE(missing.exists());
  CHECK(missing.compile(example_text(), example_flags()).verdict == Verdict::kFailed);
  for (const char* const other : {"/bin/true", "/bin/cat"}) {
    const Compilation compilation = Compiler(other).compile(example_text(), {});
    CHECK(compilation.verdict == Verdict::kFailed);
    CHECK_FALSE(compilation.message.empty());
  }
}

TEST_CASE("the program never sees the compiler's process") {
  const auto previous = std::signal(SIGCHLD, count_child);
  const Compilation compilation = example_compiler().compile(example_text(), example_flags());
  CHECK(compilation.verdict == Verdict::kCompiled);
  CHECK(g_children_ended == 0);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  (void)std::signal(SIGCHLD, previous);
}

TEST_CASE("several threads compile at once") {
  const std::string expected = example_compiler().compile(example_text(), example_flags()).code;
  std::array<std::string, 4> codes;
  std::vector<std::thread> threads;
  for (std::string& code : codes) {
    threads.emplace_back(
        [&code] { code = example_compiler().compile(example_text(), example_flags()).code; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& code : codes) {
    CHECK(code == expected);
  }
}

}  // namespace barracuda::jit
