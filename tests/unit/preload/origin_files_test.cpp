#include "preload/origin_files.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"

namespace barracuda::preload {
namespace {

namespace fs = std::filesystem;
using session::CodeOrigin;

CodeOrigin sample() {
  CodeOrigin origin;
  origin.texts = {".version 8.0\n", "", std::string(100000, 'x')};
  fatbin::Container unit;
  unit.images.push_back({.kind = fatbin::EntryKind::kPtx,
                         .arch = 90,
                         .variant = fatbin::ArchVariant::kArchSpecific,
                         .payload_size = 3,
                         .payload = "ptx"});
  unit.images.push_back({.kind = fatbin::EntryKind::kCubin, .arch = 90, .payload = "code"});
  origin.units = {unit, {}};
  origin.gap = "a library";
  return origin;
}

std::vector<fs::path> entries(const std::string& folder) {
  std::vector<fs::path> all;
  for (const auto& each : fs::directory_iterator(folder)) {
    all.push_back(each.path());
  }
  return all;
}

TEST_CASE("an origin comes back as it went, without the machine code") {
  const ScratchFolder folder;
  const OriginFiles files(folder / "made/origins");
  const Hash128 code = hash128("code");
  CHECK_FALSE(files.find(code));
  files.store(code, sample());
  const auto found = OriginFiles(folder / "made/origins").find(code);
  REQUIRE(found);
  CHECK(found->texts == sample().texts);
  CHECK(found->gap == "a library");
  REQUIRE(found->units.size() == 2);
  REQUIRE(found->units[0].images.size() == 1);
  CHECK(found->units[0].images[0] == sample().units[0].images[0]);
  CHECK(found->units[1].images.empty());
  CHECK_FALSE(files.find(hash128("other code")));
  CHECK(fs::file_size(entries(folder / "made/origins").at(0)) < 1000);
}

TEST_CASE("nothing is kept nowhere, or where others may write") {
  const OriginFiles nowhere("");
  nowhere.store(hash128("code"), sample());
  CHECK_FALSE(nowhere.find(hash128("code")));

  const ScratchFolder folder;
  const OriginFiles files(folder / "origins");
  files.store(hash128("code"), sample());
  fs::permissions(folder / "origins", fs::perms::group_write, fs::perm_options::add);
  CHECK_FALSE(files.find(hash128("code")));
  files.store(hash128("another"), sample());
  CHECK(entries(folder / "origins").size() == 1);
}

TEST_CASE("the folder is bounded, and a damaged entry is dropped") {
  const ScratchFolder folder;
  constexpr std::uint64_t kSmall = 4000;
  const OriginFiles files(folder / "origins", kSmall);
  for (int i = 0; i < 40; ++i) {
    files.store(hash128(std::to_string(i)), sample());
  }
  std::uintmax_t bytes = 0;
  for (const fs::path& entry : entries(folder / "origins")) {
    bytes += fs::file_size(entry);
  }
  CHECK(bytes <= kSmall);
  CHECK(files.find(hash128("39")));

  for (const fs::path& entry : entries(folder / "origins")) {
    fs::resize_file(entry, fs::file_size(entry) - 1);
  }
  CHECK_FALSE(files.find(hash128("39")));
}

TEST_CASE("several find what others store") {
  const ScratchFolder folder;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const OriginFiles files(folder / "made/here/origins");
      for (int i = 0; i < 20; ++i) {
        files.store(hash128(std::to_string(i)), sample());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(OriginFiles(folder / "made/here/origins").find(hash128(std::to_string(i))));
  }
}

}  // namespace
}  // namespace barracuda::preload
