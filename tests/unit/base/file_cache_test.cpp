#include "base/file_cache.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"

namespace barracuda {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  [[nodiscard]] std::string path() const { return parent_ / "made/on/demand"; }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& each : fs::recursive_directory_iterator(parent_.path())) {
      if (each.is_regular_file()) {
        all.push_back(each.path());
      }
    }
    return all;
  }

 private:
  ScratchFolder parent_;
};

constexpr std::uint64_t kPlenty = 1U << 20;

}  // namespace

TEST_CASE("a cache finds what it was given, also in another process's hands") {
  const Folder folder;
  const FileCache cache(folder.path(), kPlenty);
  const Hash128 key = hash128("key");
  CHECK_FALSE(cache.find(key));
  const std::string content("machine\0code", 12);
  CHECK(cache.store(key, content));
  CHECK(cache.find(key) == content);
  CHECK(FileCache(folder.path(), kPlenty).find(key) == content);
  CHECK_FALSE(cache.find(hash128("another key")));
  CHECK(cache.store(key, "newer"));
  CHECK(cache.find(key) == "newer");
  CHECK(cache.store(hash128("nothing"), ""));
  CHECK(cache.find(hash128("nothing")) == "");
  CHECK(folder.files().size() == 2);
}

TEST_CASE("a cache is made for its user alone, and not used where others may write") {
  const Folder folder;
  const FileCache cache(folder.path(), kPlenty);
  const Hash128 key = hash128("key");
  REQUIRE(cache.store(key, "content"));
  CHECK(fs::status(folder.path()).permissions() == fs::perms::owner_all);
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(cache.find(key));
  const Expected<void> stored = cache.store(key, "other");
  REQUIRE_FALSE(stored);
  CHECK(stored.error().message.find("others may write") != std::string::npos);
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(cache.find(key) == "content");
}

TEST_CASE("a damaged entry is missing, and gone") {
  const std::string content(1000, 'x');
  for (const std::size_t at : {0U, 8U, 16U, 31U, 32U, 47U, 48U, 500U, 1047U}) {
    const Folder folder;
    const FileCache cache(folder.path(), kPlenty);
    REQUIRE(cache.store(hash128("key"), content));
    const fs::path file = folder.files().at(0);
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(static_cast<std::streamoff>(at));
      stream.put('\x55');
    }
    CHECK_FALSE(cache.find(hash128("key")));
    CHECK(folder.files().empty());
    CHECK(cache.store(hash128("key"), content));
    fs::resize_file(folder.files().at(0), at);
    CHECK_FALSE(cache.find(hash128("key")));
  }
}

TEST_CASE("an entry under another's name is missing") {
  const Folder folder;
  const FileCache cache(folder.path(), kPlenty);
  REQUIRE(cache.store(hash128("key"), "content"));
  fs::rename(folder.files().at(0), folder.path() + "/" + hash128("other").hex() + ".entry");
  CHECK_FALSE(cache.find(hash128("other")));
  CHECK(folder.files().empty());
}

TEST_CASE("what a killed process left half written is cleared away, other files are not") {
  const Folder folder;
  const FileCache cache(folder.path(), kPlenty);
  REQUIRE(cache.store(hash128("key"), "content"));
  for (const char* const name : {"unfinished.fresh", "unfinished.stale", "notes.entry"}) {
    std::ofstream(folder.path() + "/" + name) << "text";
  }
  for (const char* const name : {"unfinished.stale", "notes.entry"}) {
    fs::last_write_time(folder.path() + "/" + name,
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  REQUIRE(cache.store(hash128("other"), "content"));
  CHECK(fs::exists(folder.path() + "/unfinished.fresh"));
  CHECK_FALSE(fs::exists(folder.path() + "/unfinished.stale"));
  CHECK(fs::exists(folder.path() + "/notes.entry"));
}

TEST_CASE("a full cache drops what was used longest ago") {
  const Folder folder;
  const std::string content(1000, 'x');
  const FileCache cache(folder.path(), 3500);  // three entries
  using std::chrono::seconds;
  const auto age = [&](std::string_view key, int seconds_ago) {
    fs::last_write_time(folder.path() + "/" + hash128(key).hex() + ".entry",
                        fs::file_time_type::clock::now() - seconds(seconds_ago));
  };
  for (const std::string_view key : {"a", "b", "c"}) {
    REQUIRE(cache.store(hash128(key), content));
  }
  age("a", 30);
  age("b", 20);
  age("c", 10);
  CHECK(cache.find(hash128("a")));  // used now
  REQUIRE(cache.store(hash128("d"), content));
  CHECK_FALSE(cache.find(hash128("b")));
  CHECK(cache.find(hash128("a")));
  CHECK(cache.find(hash128("c")));
  CHECK(cache.find(hash128("d")));
  CHECK_FALSE(cache.store(hash128("huge"), std::string(4000, 'y')));
  CHECK(folder.files().size() == 3);
}

TEST_CASE("a cache that cannot be written keeps nothing and says so") {
  const Folder folder;
  std::ofstream(folder.path().substr(0, folder.path().find("/made")) + "/made") << "a file";
  for (const std::string& path : {std::string("/proc/barracuda"), folder.path()}) {
    const FileCache cache(path, kPlenty);
    const Expected<void> kept = cache.store(hash128("key"), "content");
    REQUIRE_FALSE(kept);
    CHECK_THAT(kept.error().to_string(), Catch::StartsWith(path + ": "));
    CHECK_FALSE(cache.find(hash128("key")));
  }
}

TEST_CASE("at the file size limit nothing is kept, and the process goes on") {
  const Folder folder;
  const FileCache cache(folder.path(), kPlenty);
  rlimit previous{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &previous) == 0);
  rlimit small = previous;
  small.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Expected<void> kept = cache.store(hash128("key"), std::string(1000, 'x'));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &previous) == 0);
  CHECK_FALSE(kept);
  CHECK(folder.files().empty());
}

TEST_CASE("threads that share a cache find whole entries or none") {
  const Folder folder;
  const FileCache cache(folder.path(), 20000);  // four entries of seven
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 100; ++round) {
        const std::string key = std::to_string((round + thread) % 7);
        const std::string content(4000, key[0]);
        wrong += cache.store(hash128(key), content) ? 0 : 1;
        const auto found = cache.find(hash128(key));
        wrong += found && *found != content ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(folder.files().size() <= 5);
}

}  // namespace barracuda
