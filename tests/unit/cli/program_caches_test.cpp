#include "cli/program_caches.h"

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "cli/environment.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

TEST_CASE("libraries keep compiled kernels in folders of the tool's own") {
  const ScratchFolder folder;
  Options options;
  options.jit_cache = folder / "cache";
  const auto set = own_program_caches(options, std::vector<std::string>{});
  const std::string triton = value_of(set, "TRITON_CACHE_DIR");
  CHECK(triton == folder / "cache/origins/programs/triton");
  CHECK(fs::is_directory(triton));
  CHECK(fs::status(folder / "cache").permissions() == fs::perms::owner_all);
  CHECK_FALSE(value_of(set, "CUPY_CACHE_DIR").empty());
  CHECK_FALSE(value_of(set, "NUMBA_CACHE_DIR").empty());

  // JAX keeps nothing unless it is told to.
  CHECK(value_of(set, "JAX_COMPILATION_CACHE_DIR").empty());
  const std::vector<std::string> environment = {"JAX_COMPILATION_CACHE_DIR=/home/u/jax",
                                                "TRITON_CACHE_DIR=/home/u/triton"};
  const auto with_jax = own_program_caches(options, environment);
  CHECK(value_of(with_jax, "JAX_COMPILATION_CACHE_DIR") == folder / "cache/origins/programs/jax");
  CHECK(value_of(with_jax, "TRITON_CACHE_DIR") == triton);

  ToolEnvironment tool;
  tool.caches = with_jax;
  const auto child = child_environment(environment, tool);
  CHECK(value_of(child, "TRITON_CACHE_DIR") == triton);
  CHECK(std::ranges::count_if(child, [](const std::string& entry) {
          return entry.starts_with("TRITON_CACHE_DIR=");
        }) == 1);
}

TEST_CASE("the libraries' caches stay theirs where there is no folder for them") {
  const ScratchFolder folder;
  Options options;
  options.jit_cache = "none";
  CHECK(own_program_caches(options, std::vector<std::string>{}).empty());
  options.jit_cache = folder / "cache";
  options.program_caches = "theirs";
  CHECK(own_program_caches(options, std::vector<std::string>{}).empty());
  CHECK_FALSE(fs::exists(folder / "cache"));
  options.program_caches = "own";
  REQUIRE_FALSE(own_program_caches(options, std::vector<std::string>{}).empty());
  fs::permissions(folder / "cache/origins", fs::perms::others_write, fs::perm_options::add);
  CHECK(own_program_caches(options, std::vector<std::string>{}).empty());
}

}  // namespace
}  // namespace barracuda::cli
