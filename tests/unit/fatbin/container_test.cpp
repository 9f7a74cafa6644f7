#include "fatbin/container.h"

#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "fatbin/builder.h"
#include "nvcc_output.h"

namespace barracuda::fatbin {
namespace {

const Image& image_in(const HostImage& image, EntryKind kind, std::string_view target = "") {
  for (const Container& container : image.containers) {
    for (const Image& entry : container.images) {
      if (entry.kind == kind && (target.empty() || entry.target() == target)) {
        return entry;
      }
    }
  }
  FAIL("no entry of kind " << static_cast<int>(kind) << " for " << target);
  std::abort();
}

void check_is_ptx_of_kernel(const Image& image) {
  CHECK(kind_of_image(image.payload.c_str()) == ImageKind::kPtxText);
  CHECK_THAT(image.payload, Catch::Contains(".visible .entry _Z5countPi(") &&
                                Catch::Contains(".target sm_" + image.target().substr(8)));
  CHECK(image.payload.find('\0') == std::string::npos);
  CHECK(image.ptx_major == 9);
  CHECK(image.ptx_minor == 0);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string error_of(const std::string& bytes) {
  const auto result = read(bytes_of(bytes), Payloads::kAll);
  REQUIRE_FALSE(result);
  return result.error().message;
}

std::string small_fatbin() {
  const Image image = image_of_ptx(".version 9.0\n.target sm_90\n.address_size 64\n").value();
  return build({.images = {image}}).value();
}

template <typename T>
std::string with(std::string bytes, std::size_t offset, T value) {
  bytes.replace(offset, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

TEST_CASE("what nvcc writes by default holds PTX and machine code for one architecture") {
  const HostImage image = image_of("default");
  REQUIRE(count_of(image, EntryKind::kPtx) == 1);
  // nvcc's link step adds one without any kernel.
  CHECK(count_of(image, EntryKind::kCubin) == 2);
  const Image& ptx = image_in(image, EntryKind::kPtx);
  check_is_ptx_of_kernel(ptx);
  CHECK(ptx.compression == Compression::kZstd);
  const Image& cubin = image_in(image, EntryKind::kCubin);
  CHECK(kind_of_image(cubin.payload.data()) == ImageKind::kCubin);
  CHECK(cubin.payload.size() == cubin.payload_size);
  CHECK(cubin.target() == "sm_" + ptx.target().substr(8));
}

TEST_CASE("an architecture that is asked for is the one of the entries") {
  const HostImage image = image_of("sm_90");
  check_is_ptx_of_kernel(image_in(image, EntryKind::kPtx, "compute_90"));
  CHECK(image_in(image, EntryKind::kCubin).target() == "sm_90");
}

TEST_CASE("PTX may stand without machine code, and machine code without PTX") {
  const HostImage ptx = image_of("ptx_only");
  CHECK(count_of(ptx, EntryKind::kCubin) == 0);
  check_is_ptx_of_kernel(image_in(ptx, EntryKind::kPtx, "compute_90"));
  const HostImage cubin = image_of("cubin_only");
  CHECK(count_of(cubin, EntryKind::kPtx) == 0);
  CHECK(image_in(cubin, EntryKind::kCubin).target() == "sm_90");
}

TEST_CASE("entries for many architectures are told apart, with their variants") {
  const HostImage image = image_of("many");
  REQUIRE(count_of(image, EntryKind::kPtx) == 4);
  CHECK(count_of(image, EntryKind::kCubin) == 4);
  for (const char* const target : {"compute_80", "compute_90", "compute_90a", "compute_100f"}) {
    check_is_ptx_of_kernel(image_in(image, EntryKind::kPtx, target));
  }
  CHECK(image_in(image, EntryKind::kCubin, "sm_90a").variant == ArchVariant::kArchSpecific);
}

TEST_CASE("every compression mode of nvcc gives the same PTX") {
  const std::string expected = image_in(image_of("none"), EntryKind::kPtx).payload;
  for (const auto& [mode, compression] :
       {std::pair("none", Compression::kStored), std::pair("speed", Compression::kLz4),
        std::pair("size", Compression::kZstd), std::pair("balance", Compression::kZstd)}) {
    const HostImage image = image_of(mode);
    const Image& ptx = image_in(image, EntryKind::kPtx);
    INFO(mode);
    CHECK(ptx.compression == compression);
    check_is_ptx_of_kernel(ptx);
    CHECK(ptx.payload == expected);
    CHECK(kind_of_image(image_in(image, EntryKind::kCubin).payload.data()) == ImageKind::kCubin);
  }
}

TEST_CASE("with line information an entry names its source file, and -G marks it") {
  const HostImage lineinfo = image_of("lineinfo");
  const Image& ptx = image_in(lineinfo, EntryKind::kPtx);
  CHECK_THAT(ptx.identifier, Catch::Contains("kernel.cu"));
  CHECK_THAT(ptx.payload, Catch::Contains(".loc\t1 "));
  CHECK_FALSE(ptx.has_debug);
  CHECK(image_in(image_of("debug"), EntryKind::kPtx).has_debug);
  CHECK(image_in(image_of("default"), EntryKind::kPtx).identifier.empty());
}

TEST_CASE("payloads that were not asked for are left out, and their sizes are there") {
  const std::string section = section_of("default", ".nv_fatbin");
  const auto all = read_section(bytes_of(section), Payloads::kAll).value();
  const auto ptx = read_section(bytes_of(section), Payloads::kPtx).value();
  const auto none = read_section(bytes_of(section), Payloads::kNone).value();
  REQUIRE(all.size() == none.size());
  for (std::size_t index = 0; index < all.size(); ++index) {
    REQUIRE(all[index].images.size() == none[index].images.size());
    for (std::size_t entry = 0; entry < all[index].images.size(); ++entry) {
      const Image& full = all[index].images[entry];
      const Image& bare = none[index].images[entry];
      CHECK(bare.payload.empty());
      CHECK_FALSE(full.payload.empty());
      CHECK(bare.payload_size == full.payload_size);
      CHECK(ptx[index].images[entry].payload.empty() == (full.kind != EntryKind::kPtx));
    }
  }
}

TEST_CASE("a container is read in place, wherever it stands in memory") {
  const std::string bytes = small_fatbin();
  const auto expected = read(bytes_of(bytes)).value().main;
  for (std::size_t shift = 0; shift < 9; ++shift) {
    const std::string moved = std::string(shift, 'x') + bytes + "and what follows";
    const auto fatbin = read(bytes_of(moved).subspan(shift));
    REQUIRE(fatbin);
    CHECK(fatbin->main == expected);
  }
}

TEST_CASE("a container that is cut off anywhere is an error") {
  const std::string bytes = small_fatbin();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THAT(error_of(bytes.substr(0, size)), Catch::StartsWith("damaged fat binary at byte 0"));
  }
}

TEST_CASE("a field that cannot be is an error that says which") {
  const std::string bytes = small_fatbin();
  constexpr std::size_t kEntry = sizeof(Header);
  CHECK_THAT(error_of(with(bytes, 0, 0xba55ed51U)), Catch::EndsWith("no header stands here"));
  CHECK_THAT(error_of(with(bytes, 4, std::uint16_t{2})), Catch::Contains("version 2"));
  CHECK_THAT(error_of(with(bytes, 6, std::uint16_t{8})), Catch::Contains("size 8"));
  CHECK_THAT(error_of(with(bytes, 8, ~std::uint64_t{0})), Catch::Contains("it declares"));
  CHECK_THAT(error_of(with(bytes, 8, std::uint64_t{40})), Catch::Contains("an entry is cut off"));
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, version), std::uint16_t{0x0202})),
             Catch::Contains("at byte 16: an entry has version 514"));
  for (const std::uint32_t size : {0U, 63U, 1U << 30, ~0U}) {
    CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, header_size), size)),
               Catch::EndsWith("an entry reaches behind the end"));
  }
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, payload_size), ~std::uint64_t{0})),
             Catch::EndsWith("an entry reaches behind the end"));
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, compressed_size), 1U << 20)),
             Catch::EndsWith("its compressed data is longer than the entry"));
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, options_offset), 60U)),
             Catch::EndsWith("the options lie outside their header"));
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, identifier_offset), 65U)),
             Catch::EndsWith("a text lies outside its header"));
  CHECK_THAT(error_of(with(bytes, kEntry + offsetof(Entry, uncompressed_size), std::uint64_t{5})),
             Catch::Contains("the zstd data of a fat binary entry is damaged"));
}

TEST_CASE("an entry of a kind that we do not know is kept") {
  const std::string bytes = with(small_fatbin(), sizeof(Header), std::uint16_t{77});
  const Fatbin fatbin = read(bytes_of(bytes)).value();
  REQUIRE(fatbin.main.images.size() == 1);
  CHECK(fatbin.main.images[0].kind == static_cast<EntryKind>(77));
  CHECK(fatbin.main.images[0].payload.empty());
  CHECK(best_ptx(fatbin.main, 90) == nullptr);
}

}  // namespace
}  // namespace barracuda::fatbin
