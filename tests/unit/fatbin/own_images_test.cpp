#include "fatbin/own_images.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace barracuda::fatbin {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const void* header;
  const void* units;
};

constexpr std::uint32_t kMagic = 0x466243b1;

// AddressSanitizer of clang would put bytes of its own between the variables of these sections.
#ifdef __clang__
#  define IN_SECTION(name) [[gnu::section(name), gnu::used, clang::no_sanitize("address")]]
#else
#  define IN_SECTION(name) [[gnu::section(name), gnu::used]]
#endif

// What nvcc puts into an executable; the headers are all zeros, which stand for nothing.
IN_SECTION(".nv_fatbin") const std::uint64_t kHeaders[4] = {};
IN_SECTION("__nv_relfatbin") const std::uint64_t kUnitHeader[2] = {};
IN_SECTION(".nvFatBinSegment")
Wrapper g_wrappers[] = {
    {kMagic, 1, &kHeaders[0], nullptr},
    {kMagic, 1, &kUnitHeader[0], nullptr},
    {0, 1, &kHeaders[0], nullptr},
    {kMagic, 2, &kHeaders[2], nullptr},
};

}  // namespace

TEST_CASE("what this program registers is found, and no unit that is part of something else") {
  CHECK(own_images() == std::vector<const void*>{&g_wrappers[0], &g_wrappers[3]});
}

}  // namespace barracuda::fatbin
