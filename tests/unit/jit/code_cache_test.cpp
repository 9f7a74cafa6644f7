#include "jit/code_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/jit/example.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPlenty = 1U << 20;
const Compiler kNoCompiler("/no/such/compiler");

class Folder {
 public:
  [[nodiscard]] FileCache files(std::uint64_t max_bytes = kPlenty) const {
    return {folder_.path(), max_bytes};
  }

  [[nodiscard]] std::vector<fs::path> entries() const {
    const fs::directory_iterator begin(folder_.path());
    return {begin, fs::directory_iterator()};
  }

 private:
  ScratchFolder folder_;
};

Request example() {
  return {.text = example_text(), .flags = example_flags(), .device = "driver 1"};
}

bool is_elf(std::string_view code) {
  return code.starts_with(
      "\x7f"
      "ELF");
}

}  // namespace

TEST_CASE("code is compiled once, then found in memory, and on disk by the next process") {
  const Folder folder;
  CodeCache first(folder.files(), example_compiler());
  const Code compiled = first.find_or_compile(example());
  CHECK(compiled.source == CodeSource::kCompiler);
  CHECK(compiled.message.empty());
  REQUIRE(is_elf(compiled.bytes));
  const Code again = first.find_or_compile(example());
  CHECK(again.source == CodeSource::kMemory);
  CHECK(again.bytes.data() == compiled.bytes.data());
  CodeCache second(folder.files(), kNoCompiler);
  const Code found = second.find_or_compile(example());
  CHECK(found.source == CodeSource::kDisk);
  CHECK(found.bytes == compiled.bytes);
}

TEST_CASE("another text, other flags or another driver is other code") {
  const Folder folder;
  CodeCache cache(folder.files(), example_compiler());
  REQUIRE(is_elf(cache.find_or_compile(example()).bytes));
  const std::string text = std::string(example_text()) + "\n";
  Request other = example();
  SECTION("the text") {
    other.text = text;
  }
  SECTION("the flags") {
    other.flags.emplace_back("--opt-level=1");
  }
  SECTION("the device") {
    other.flags = {"--gpu-name=sm_100"};
  }
  SECTION("the driver") {
    other.device = "driver 2";
  }
  CHECK(cache.find_or_compile(other).source == CodeSource::kCompiler);
  CHECK(folder.entries().size() == 2);
}

TEST_CASE("damaged code is compiled again") {
  const Folder folder;
  const std::string expected(
      CodeCache(folder.files(), example_compiler()).find_or_compile(example()).bytes);
  const fs::path entry = folder.entries().at(0);
  SECTION("cut short") {
    fs::resize_file(entry, fs::file_size(entry) - 1);
  }
  SECTION("empty") {
    fs::resize_file(entry, 0);
  }
  SECTION("another byte") {
    std::fstream stream(entry, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(1000);
    stream.put('\x55');
  }
  CodeCache cache(folder.files(), example_compiler());
  const Code code = cache.find_or_compile(example());
  CHECK(code.source == CodeSource::kCompiler);
  CHECK(code.bytes == expected);
  CodeCache next(folder.files(), kNoCompiler);
  CHECK(next.find_or_compile(example()).source == CodeSource::kDisk);
}

TEST_CASE("a text that the compiler refuses is left to the driver, in the next process at once") {
  const Folder folder;
  Request wrong = example();
  wrong.text = ".version 8.0\n.target sm_90\nwrong;\n";
  CodeCache cache(folder.files(), example_compiler());
  const Code refused = cache.find_or_compile(wrong);
  CHECK(refused.bytes.empty());
  CHECK(refused.source == CodeSource::kCompiler);
  CHECK_THAT(refused.message, Catch::Contains("ptxas"));
  CodeCache next(folder.files(), kNoCompiler);
  const Code known = next.find_or_compile(wrong);
  CHECK(known.bytes.empty());
  CHECK(known.source == CodeSource::kDisk);
}

TEST_CASE("that no compiler could be started is not remembered") {
  const Folder folder;
  CHECK(CodeCache(folder.files(), kNoCompiler).find_or_compile(example()).bytes.empty());
  CHECK(folder.entries().empty());
}

TEST_CASE("code that the driver refused is not found again") {
  const Folder folder;
  const bool takes_text = GENERATE(true, false);
  CodeCache cache(folder.files(), example_compiler());
  const std::string_view loaded = cache.find_or_compile(example()).bytes;
  REQUIRE(is_elf(loaded));
  cache.forget(example(), takes_text);
  CHECK(cache.find_or_compile(example()).bytes.empty());
  CHECK(is_elf(loaded));
  CodeCache next(folder.files(), example_compiler());
  const Code code = next.find_or_compile(example());
  CHECK(code.bytes.empty() == takes_text);
  CHECK(code.source == (takes_text ? CodeSource::kDisk : CodeSource::kCompiler));
}

TEST_CASE("without a folder to write to, code is compiled all the same, and it is said") {
  CodeCache cache(FileCache("/proc/barracuda", kPlenty), example_compiler());
  const Code code = cache.find_or_compile(example());
  CHECK(is_elf(code.bytes));
  CHECK_THAT(code.message, Catch::Contains("/proc/barracuda"));
}

TEST_CASE("code beyond the bound is not kept") {
  const Folder folder;
  CodeCache cache(folder.files(1000), example_compiler());
  const Code code = cache.find_or_compile(example());
  CHECK(is_elf(code.bytes));
  CHECK_FALSE(code.message.empty());
  CHECK(folder.entries().empty());
}

TEST_CASE("threads that ask for the same code at once compile it once") {
  const Folder folder;
  CodeCache cache(folder.files(), example_compiler());
  std::vector<Code> codes(4);
  std::vector<std::thread> threads;
  for (Code& code : codes) {
    threads.emplace_back([&] { code = cache.find_or_compile(example()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(std::ranges::count(codes, CodeSource::kCompiler, &Code::source) == 1);
  for (const Code& code : codes) {
    CHECK(code.bytes.data() == codes[0].bytes.data());
  }
}

TEST_CASE("what is compiled ahead is there for who asks, once") {
  const Folder folder;
  // Its threads outlive us.
  static auto* const cache = new CodeCache(folder.files(), example_compiler());
  static std::vector<std::string> texts;
  std::vector<Request> requests;
  for (int index = 0; index < 6; ++index) {
    texts.push_back(std::string(example_text()) + std::string(index, '\n'));
  }
  for (const std::string& text : texts) {
    requests.push_back(example());
    requests.back().text = text;
  }
  cache->compile_ahead(requests);
  while (folder.entries().size() < requests.size()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const Request& request : requests) {
    const Code code = cache->find_or_compile(request);
    CHECK(code.source == CodeSource::kCompiler);
    CHECK(is_elf(code.bytes));
    CHECK(cache->find_or_compile(request).source == CodeSource::kMemory);
  }
}

TEST_CASE("processes that fill and damage one folder at once all get whole code") {
  const Folder folder;
  const std::string expected(
      CodeCache(folder.files(), example_compiler()).find_or_compile(example()).bytes);
  const fs::path entry = folder.entries().at(0);
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    children.push_back(fork());
    if (children.back() != 0) {
      continue;
    }
    bool is_right = true;
    for (int round = 0; round < 3; ++round) {
      std::error_code ignored;
      if (process == 0) {
        fs::resize_file(entry, 100, ignored);
      }
      CodeCache cache(folder.files(), example_compiler());
      is_right = is_right && cache.find_or_compile(example()).bytes == expected;
    }
    _exit(is_right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CodeCache last(folder.files(), example_compiler());
  CHECK(last.find_or_compile(example()).bytes == expected);
}

}  // namespace barracuda::jit
