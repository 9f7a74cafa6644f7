#include "fatbin/builder.h"

#include <catch2/catch.hpp>

#include "nvcc_output.h"

namespace barracuda::fatbin {
namespace {

constexpr const char* kText = "// first\n.version 8.7\n.target sm_100f, debug\n.address_size 64\n";

TEST_CASE("the image of a PTX text has the version and target that the text declares") {
  const Image image = image_of_ptx(kText).value();
  CHECK(image.kind == EntryKind::kPtx);
  CHECK(image.ptx_major == 8);
  CHECK(image.ptx_minor == 7);
  CHECK(image.target() == "compute_100f");
  CHECK(image_of_ptx(".version 9.0\n.target sm_90a\n").value().target() == "compute_90a");
  CHECK(image_of_ptx(".version 9.0\n.target sm_75").value().target() == "compute_75");
}

TEST_CASE("a text that declares no version or target is no PTX") {
  CHECK(image_of_ptx("").error().message == "the PTX text declares no .version");
  CHECK(image_of_ptx("// .version 9.0\n").error().message == "the PTX text declares no .version");
  CHECK(image_of_ptx(".version 9\n").error().message == "the PTX text declares no .version");
  CHECK(image_of_ptx(".version 9.0\n").error().message == "the PTX text declares no .target");
  CHECK(image_of_ptx(".version 9.0\n.target x").error().message ==
        "the PTX text declares no .target");
}

TEST_CASE("what is built is read back, in every compression, with all its texts") {
  for (const Compression compression :
       {Compression::kStored, Compression::kLz4, Compression::kZstd}) {
    Image first = image_of_ptx(std::string(kText) + std::string(3000, ' ')).value();
    first.compression = compression;
    first.identifier = "a/b.cu";
    first.options = "--compile-only  ";
    first.has_debug = true;
    Image second = image_of_ptx(".version 9.0\n.target sm_90a\n").value();
    const std::string bytes = build({.images = {first, second}}).value();
    CHECK(bytes.size() % 8 == 0);
    Fatbin fatbin = read(std::as_bytes(std::span(bytes))).value();
    REQUIRE(fatbin.main.images.size() == 2);
    // A stored payload's size includes the padding.
    CHECK(fatbin.main.images[0].payload_size - first.payload_size < 8);
    fatbin.main.images[0].payload_size = first.payload_size;
    CHECK(fatbin.main.images[0] == first);
    CHECK(fatbin.main.images[1] == second);
  }
}

TEST_CASE("what nvcc wrote and we build again is read back the same") {
  for (const char* const name : {"many", "none", "speed", "lineinfo", "rdc", "debug"}) {
    for (const Container& container : image_of(name).containers) {
      const std::string bytes = build(container).value();
      CHECK(read(std::as_bytes(std::span(bytes)), Payloads::kAll).value().main == container);
    }
  }
}

TEST_CASE("an embedded fat binary is found through its wrapper, also after a move") {
  const Image image = image_of_ptx(kText).value();
  auto built = EmbeddedFatbin::build({.main = {.images = {image}}}).value();
  const EmbeddedFatbin plain = std::move(built);
  const Fatbin read_plain = read(plain.wrapper()).value();
  CHECK(read_plain.wrapper_version == 1);
  CHECK(read_plain.main.images == std::vector{image});

  const auto linked = EmbeddedFatbin::build({.units = {{.images = {image}}, {}}}).value();
  const Fatbin read_linked = read(linked.wrapper()).value();
  CHECK(read_linked.wrapper_version == 2);
  CHECK(read_linked.main.images.empty());
  REQUIRE(read_linked.units.size() == 2);
  CHECK(read_linked.units[0].images == std::vector{image});
}

TEST_CASE("an image without its payload cannot be built") {
  const Image image{.kind = EntryKind::kCubin, .arch = 90};
  CHECK(build({.images = {image}}).error().message == "the image for sm_90 has no payload");
}

}  // namespace
}  // namespace barracuda::fatbin
