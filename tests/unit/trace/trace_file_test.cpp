#include "trace/trace_file.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::trace {
namespace {

using Catch::Contains;

const std::vector<std::byte> kBlock(1000, std::byte{'x'});

TEST_CASE("a file of one's own begins anew, and nobody else gets it meanwhile") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "trace", "what was there before"));
  auto file = TraceFile::open(folder / "trace", Ownership::kAlone);
  REQUIRE(file);
  CHECK(read_file(folder / "trace").value().empty());
  const auto second = TraceFile::open(folder / "trace", Ownership::kAlone);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().message, Contains("another process") && Contains("%p"));
  CHECK(file->append(kBlock));
  CHECK(read_file(folder / "trace").value().size() == kBlock.size());
}

TEST_CASE("processes that share a file append whole blocks") {
  const ScratchFolder folder;
  constexpr int kProcesses = 4;
  constexpr int kBlocks = 50;
  for (int process = 0; process < kProcesses; ++process) {
    if (fork() == 0) {
      auto file = TraceFile::open(folder / "trace", Ownership::kShared);
      const std::vector<std::byte> block(1000, static_cast<std::byte>('a' + process));
      bool good = file.has_value();
      for (int i = 0; i < kBlocks && good; ++i) {
        good = file->append(block).has_value();
      }
      _exit(good ? 0 : 1);
    }
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    REQUIRE(wait(&status) > 0);
    CHECK(status == 0);
  }
  const std::string text = read_file(folder / "trace").value();
  REQUIRE(text.size() == std::size_t{1000} * kProcesses * kBlocks);
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    CHECK(text.substr(at, 1000) == std::string(1000, text[at]));
  }
}

TEST_CASE("a block that does not fit leaves the file as it was") {
  const ScratchFolder folder;
  auto file = TraceFile::open(folder / "trace", Ownership::kAlone);
  REQUIRE(file);
  REQUIRE(file->append(kBlock));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 1500, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto appended = file->append(kBlock);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE_FALSE(appended);
  CHECK_THAT(appended.error().to_string(), Contains("File too large"));
  CHECK(read_file(folder / "trace").value().size() == kBlock.size());
}

// A daemon closes every number that it has, and opens its own files.
TEST_CASE("a program that closes the tool's file gets nothing written into its own") {
  const ScratchFolder folder;
  auto file = TraceFile::open(folder / "trace", Ownership::kAlone);
  REQUIRE(file);
  int number = -1;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry, error) == folder / "trace") {
      number = std::stoi(entry.path().filename());
    }
  }
  REQUIRE(number >= 512);
  const int own = open((folder / "own").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(dup2(own, number) == number);
  const auto appended = file->append(kBlock);
  REQUIRE_FALSE(appended);
  CHECK_THAT(appended.error().message, Contains("closed"));
  CHECK(read_file(folder / "own").value().empty());
  close(number);
  close(own);
}

}  // namespace
}  // namespace barracuda::trace
