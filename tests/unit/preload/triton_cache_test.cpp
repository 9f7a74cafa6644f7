#include "preload/triton_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"

namespace barracuda::preload {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_CASE("PTX lies beside the machine code in Triton's caches, and in Inductor's") {
  const ScratchFolder folder;
  REQUIRE(setenv("HOME", (folder / "home").c_str(), 1) == 0);
  REQUIRE(unsetenv("TRITON_HOME") == 0);
  REQUIRE(unsetenv("TRITON_CACHE_DIR") == 0);
  write(folder / "home/.triton/cache/HASH/add.cubin", "code of add");
  write(folder / "home/.triton/cache/HASH/add.ptx", "text of add");
  write(folder / "home/.triton/cache/OTHER/add.cubin", "code of ADD");
  write(folder / "home/.triton/cache/OTHER/add.ptx", "another text");
  write(folder / "home/.triton/cache/ALONE/mul.cubin", "code of mul");
  write(folder / "home/.triton/cache/file", "no folder");
  const auto found = find_in_triton_caches("code of add");
  REQUIRE(found);
  CHECK(found->texts == std::vector<std::string>{"text of add"});
  CHECK_FALSE(find_in_triton_caches("code of mul"));
  CHECK_FALSE(find_in_triton_caches("code of div"));

  // The environment may change while the program runs: Inductor does so.
  write(folder / "inductor/triton/0/HASH/fused.cubin", "code of fused");
  write(folder / "inductor/triton/0/HASH/fused.ptx", "text of fused");
  CHECK_FALSE(find_in_triton_caches("code of fused"));
  REQUIRE(setenv("TORCHINDUCTOR_CACHE_DIR", (folder / "inductor").c_str(), 1) == 0);
  CHECK(find_in_triton_caches("code of fused"));

  fs::permissions(folder / "inductor/triton/0/HASH/fused.ptx", fs::perms::others_write,
                  fs::perm_options::add);
  CHECK_FALSE(find_in_triton_caches("code of fused"));
  REQUIRE(unsetenv("TORCHINDUCTOR_CACHE_DIR") == 0);
}

}  // namespace
}  // namespace barracuda::preload
