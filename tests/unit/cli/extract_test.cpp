#include "cli/extract.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "fatbin/builder.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

constexpr const char* kPtx = ".version 9.0\n.target sm_90\n.address_size 64\n";

TEST_CASE("the PTX of a fat binary is saved, a file an image") {
  const ScratchFolder folder;
  auto image = fatbin::image_of_ptx(kPtx);
  REQUIRE(image.has_value());
  image->compression = fatbin::Compression::kZstd;
  const auto bytes = fatbin::build({.images = {*image, *image}});
  REQUIRE(bytes.has_value());
  REQUIRE(write_file(folder / "app.fatbin", *bytes).has_value());
  CHECK(extract({.file = folder / "app.fatbin", .directory = folder / "out"}) == 0);
  CHECK(read_file(folder / "out/app.1.compute_90.ptx")->starts_with(kPtx));
  CHECK(read_file(folder / "out/app.2.compute_90.ptx").has_value());
}

TEST_CASE("a file without device code, or none at all, is status 1") {
  const ScratchFolder folder;
  CHECK(extract({.file = "/bin/sh", .directory = ""}) == 1);
  CHECK(extract({.file = folder / "missing", .directory = ""}) == 1);
  REQUIRE(write_file(folder / "text", "not a fat binary").has_value());
  CHECK(extract({.file = folder / "text", .directory = ""}) == 1);
}

}  // namespace
}  // namespace barracuda::cli
