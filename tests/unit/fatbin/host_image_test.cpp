#include "fatbin/host_image.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "nvcc_output.h"

namespace barracuda::fatbin {
namespace {

bool needs_runtime(const HostImage& image) {
  return std::ranges::count(image.needed, "libcudart.so.13") == 1;
}

TEST_CASE("a program with the runtime as a library is seen as that") {
  const HostImage image = image_of("program_shared");
  CHECK(image.has_device_code);
  CHECK(image.imports_runtime);
  CHECK(needs_runtime(image));
  CHECK_FALSE(image.has_static_runtime());
  CHECK(count_of(image, EntryKind::kPtx) == 1);
}

TEST_CASE("a shared runtime of another version is named") {
  HostImage image;
  image.needed = {"libc.so.6", "libcudart.so.13"};
  CHECK(image.other_runtime().empty());
  image.needed.emplace_back("libcudart.so.12");
  image.needed.emplace_back("libcudart.so.11.0");
  CHECK(image.other_runtime().empty());
  image.needed.emplace_back("libcudart.so.10.2");
  CHECK(image.other_runtime() == "libcudart.so.10.2");
}

TEST_CASE("a program with the runtime inside is seen as that") {
  const HostImage image = image_of("program_static");
  CHECK(image.has_device_code);
  CHECK_FALSE(image.imports_runtime);
  CHECK_FALSE(needs_runtime(image));
  CHECK(image.has_static_runtime());
  CHECK(count_of(image, EntryKind::kPtx) == 1);
  CHECK(std::ranges::count(image.needed, "libc.so.6") == 1);
}

TEST_CASE("a program of the driver API that nvcc linked has no runtime and no device code") {
  const HostImage image = image_of("program_of_driver");
  CHECK(std::ranges::count(image.needed, "libcuda.so.1") == 1);
  CHECK_FALSE(image.has_device_code);
  CHECK_FALSE(image.has_static_runtime());
}

TEST_CASE("the runtime is found in a file without device code") {
  const auto contains = [](const std::string& path) {
    auto image = read_host_image(path);
    REQUIRE(image);
    image->has_device_code = false;
    return contains_static_runtime(path, *image);
  };
  CHECK(contains(nvcc_output("program_static")));
  CHECK_FALSE(contains(nvcc_output("program_shared")));
  CHECK_FALSE(contains(nvcc_output("program_of_driver")));
  CHECK_FALSE(contains("/bin/sh"));
}

TEST_CASE("a program without CUDA has no device code and no runtime") {
  const auto image = read_host_image("/bin/sh");
  REQUIRE(image);
  CHECK_FALSE(image->has_device_code);
  CHECK_FALSE(image->has_static_runtime());
  CHECK(image->containers.empty());
  CHECK(std::ranges::count(image->needed, "libc.so.6") == 1);
}

TEST_CASE("code before linking is found beside the linked code") {
  const HostImage image = image_of("rdc");
  std::string sources;
  for (const Container& container : image.containers) {
    for (const Image& entry : container.images) {
      if (entry.kind == EntryKind::kPtx) {
        sources += entry.identifier + " ";
      }
    }
  }
  CHECK_THAT(sources, Catch::Contains("rdc_first.cu") && Catch::Contains("rdc_second.cu"));
  CHECK(count_of(image, EntryKind::kCubin) > 2);
}

TEST_CASE("a file that is no ELF file of ours is an error that names it") {
  CHECK(read_host_image("/etc/passwd").error().to_string() == "/etc/passwd: this is no ELF file");
  CHECK(read_host_image("/no/such/file").error().to_string() ==
        "/no/such/file: cannot open: No such file or directory");
  std::string file = read_file("/bin/sh").value();
  file[4] = 1;  // 32 bits
  CHECK(read_host_image(std::as_bytes(std::span(file)), Payloads::kAll).error().message ==
        "this is no 64-bit little-endian ELF file");
}

TEST_CASE("an ELF file whose section table is cut off is an error") {
  const std::string file = read_file(nvcc_output("program_shared")).value();
  const auto half = std::as_bytes(std::span(file)).first(file.size() / 2);
  CHECK(read_host_image(half, Payloads::kAll).error().message ==
        "damaged ELF file: its section table lies outside the file");
}

}  // namespace
}  // namespace barracuda::fatbin
