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

// What nvcc puts into an executable; the headers are all zeros, which stand for nothing.
[[gnu::section(".nv_fatbin"), gnu::used]] const std::uint64_t kHeaders[4] = {};
[[gnu::section("__nv_relfatbin"), gnu::used]] const std::uint64_t kUnitHeader[2] = {};
[[gnu::section(".nvFatBinSegment"), gnu::used]] Wrapper g_wrappers[] = {
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
