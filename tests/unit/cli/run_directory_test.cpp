#include "cli/run_directory.h"

#include <filesystem>
#include <utility>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/failed_assertion.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a run's folder lives as long as the object") {
  std::string reports;
  {
    const auto directory = RunDirectory::create();
    REQUIRE(directory.has_value());
    reports = directory->spools();
    CHECK(fs::is_directory(reports));
  }
  CHECK_FALSE(fs::exists(fs::path(reports).parent_path()));
}

TEST_CASE("of a run's folder that was moved away nothing is asked") {
  auto directory = RunDirectory::create();
  REQUIRE(directory.has_value());
  const RunDirectory owner = std::move(*directory);
  CHECK_THAT(test::failed_assertion([&] { (void)directory->spools(); }),
             Catch::Contains("run_directory.h"));
}

TEST_CASE("CUDA's libraries are links to ours") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "libbarracuda.so", "library").has_value());
  const auto directory = RunDirectory::create();
  REQUIRE(directory.has_value());
  const auto links = directory->link_cuda_libraries(folder / "libbarracuda.so");
  REQUIRE(links.has_value());
  CHECK(*read_file(*links + "/libcudart.so.13") == "library");
  CHECK(*read_file(*links + "/libcudart.so.12") == "library");
  CHECK(*read_file(*links + "/libcudart.so.11.0") == "library");
  CHECK(*read_file(*links + "/libcuda.so.1") == "library");
  CHECK(*read_file(*links + "/libcuda.so") == "library");
}

TEST_CASE("a library path that LD_PRELOAD cannot hold is reached through a link") {
  const ScratchFolder folder;
  const std::string odd = folder / "a b:c";
  fs::create_directory(odd);
  REQUIRE(write_file(odd + "/libbarracuda.so", "library").has_value());
  const auto directory = RunDirectory::create();
  REQUIRE(directory.has_value());
  const auto path = directory->preloadable(odd + "/libbarracuda.so");
  REQUIRE(path.has_value());
  CHECK(path->find_first_of(" :") == std::string::npos);
  CHECK(*read_file(*path) == "library");
  CHECK(*directory->preloadable("/opt/lib/libbarracuda.so") == "/opt/lib/libbarracuda.so");
}

}  // namespace
}  // namespace barracuda::cli
