#include "session/owned_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"

namespace barracuda::session {
namespace {

constexpr std::uint64_t kOut = 0x7F0000000000, kIn = 0x7F0010000000, kBytes = 1 << 20;

const ptx::InstrumentedModule& kernels() {
  static const ptx::InstrumentedModule module = [] {
    std::ifstream file(BARRACUDA_OWNED_KERNELS);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    auto parsed = ptx::parse(std::move(text));
    REQUIRE(parsed);
    std::vector<ptx::Module> units;
    units.push_back(std::move(*parsed));
    auto instrumented = ptx::instrument(std::move(units), {.first_site = wire::SiteId{100}});
    REQUIRE(instrumented);
    return std::move(*instrumented);
  }();
  return module;
}

struct Launch {
  detector::Dim3 block{.x = 64}, grid{.x = 4};
  std::uint64_t out = kOut, in = kIn;
  std::vector<std::uint32_t> numbers = {256};
};

std::vector<OwnedAllocation> owned_by(const std::string& name, const Launch& launch,
                                      const std::vector<MemoryRange>& except = {}) {
  const auto& all = kernels().kernels;
  const auto kernel = std::ranges::find(all, name, &ptx::Kernel::name);
  REQUIRE(kernel != all.end());
  std::vector<std::byte> arguments(16 + 4 * 8);
  std::memcpy(arguments.data(), &launch.out, 8);
  std::memcpy(arguments.data() + 8, &launch.in, 8);
  std::memcpy(arguments.data() + 16, launch.numbers.data(), 4 * launch.numbers.size());
  AllocationTable allocations;
  allocations.add(kOut, kBytes, "cudaMalloc");
  allocations.add(kIn, kBytes, "cudaMalloc");
  return find_owned(
      {.kernel = *kernel, .arguments = arguments, .extents = extents_of(launch.block, launch.grid)},
      allocations, except);
}

bool owns(const std::string& name, const Launch& launch = {}, std::uint64_t array = kOut) {
  const auto owned = owned_by(name, launch);
  return std::ranges::any_of(
      owned, [&](const OwnedAllocation& allocation) { return allocation.range.address == array; });
}

}  // namespace

TEST_CASE("threads that write their own elements own the array") {
  CHECK(owns("map"));
  CHECK(owns("map", {}, kIn));  // who only reads it does as well
  CHECK(owns("update"));
  CHECK(owns("pairs"));
  CHECK(owns("mirrored"));
  CHECK(owns("told"));
  CHECK_FALSE(owns("told", {}, kIn));  // its reads are volatile
}

TEST_CASE("a guard may leave out threads of the last block") {
  CHECK(owns("map", {.numbers = {200}}));
  CHECK(owns("map", {.block = {.x = 256}, .grid = {.x = 2048}, .numbers = {kBytes / 4}}));
}

TEST_CASE("rounds of a grid stride are of one thread") {
  CHECK(owns("grid_stride", {.numbers = {10000}}));
  CHECK(owns("copied_counter", {.numbers = {10000}}));
  CHECK(owns("long_grid_stride", {.numbers = {10000, 0}}));
  CHECK(owns("grid_stride", {.block = {.x = 1}, .grid = {.x = 1}}));
}

TEST_CASE("a transposition owns its output, if its tiles do") {
  const Launch whole{
      .block = {.x = 8, .y = 2}, .grid = {.x = 4, .y = 2}, .numbers = {8 * 4, 8 * 2}};
  CHECK(owns("transpose", whole));
  CHECK(owns("transpose", whole, kIn));
  Launch narrow = whole;
  narrow.numbers = {8 * 4, 8 * 2 - 1};  // its rows are shorter than the grid is wide
  CHECK_FALSE(owns("transpose", narrow));
}

TEST_CASE("stores of an unrolled loop are of one thread") {
  const Launch whole{.block = {.x = 8, .y = 4}, .grid = {.x = 2, .y = 2}, .numbers = {64}};
  CHECK(owns("unrolled", whole));
  Launch wide = whole;
  wide.block.x = 9;  // thread 8 writes where thread 0 does in its next round
  CHECK_FALSE(owns("unrolled", wide));
  Launch narrow = whole;
  narrow.numbers = {63};
  CHECK_FALSE(owns("unrolled", narrow));
}

TEST_CASE("planes of a volume are of one thread") {
  const Launch whole{.block = {.x = 8, .y = 4}, .grid = {.x = 2, .y = 2}, .numbers = {16, 8, 11}};
  CHECK(owns("planes", whole));
  Launch low = whole;
  low.numbers = {16, 7, 11};
  CHECK_FALSE(owns("planes", low));
}

TEST_CASE("a guard around an access makes its rows as wide as it says") {
  const Launch odd{.block = {.x = 8, .y = 4}, .grid = {.x = 3, .y = 2}, .numbers = {19, 7}};
  for (const std::string name : {"picture", "left_early"}) {
    CAPTURE(name);
    CHECK(owns(name, odd));
    Launch low = odd;
    low.numbers = {19, 100};
    CHECK(owns(name, low));
  }
  CHECK(owns("picture", odd, kIn));
  CHECK_FALSE(owns("guarded_rows", odd));
  CHECK_FALSE(owns("one_too_many", odd));
  CHECK_FALSE(owns("guarded_in_part", odd));
  CHECK_FALSE(owns("guarded_at_last", odd));
  Launch with_long = odd;
  with_long.numbers = {19, 0, 19};
  CHECK(owns("long_guard", with_long));
  with_long.numbers = {~0U, ~0U, 19};
  CHECK_FALSE(owns("long_guard", with_long));
  CHECK_FALSE(owns("either", odd));
  Launch negative = odd;
  negative.numbers = {static_cast<std::uint32_t>(-5), 7};
  CHECK_FALSE(owns("guarded_rows", negative));
}

TEST_CASE("bits that are put together are a sum where they are not the same bits") {
  CHECK(owns("padded_rows", {.numbers = {0, 1}}));
  CHECK(owns("padded_rows", {.numbers = {0, 3}}));
  CHECK_FALSE(owns("padded_rows", {.numbers = {0, 0}}));
  CHECK_FALSE(owns("padded_rows", {.block = {.x = 65}, .numbers = {0, 1}}));
}

TEST_CASE("bits of an index that go apart are numbers of their own") {
  for (const std::uint32_t stride : {1U, 2U, 16U, 64U, 128U}) {
    CAPTURE(stride);
    CHECK(owns("butterfly", {.numbers = {stride}}));
    CHECK(owns("exchange", {.numbers = {stride}}));
  }
  CHECK(owns("butterfly", {.block = {.x = 96}, .grid = {.x = 3}, .numbers = {32}}));
  CHECK_FALSE(owns("butterfly", {.numbers = {48}}));  // no power of two
  CHECK(owns("rows_of_powers", {.numbers = {4}}));
  CHECK_FALSE(owns("rows_of_powers", {.block = {.x = 128}, .grid = {.x = 512}, .numbers = {5}}));
  CHECK(owns("divided"));
  CHECK_FALSE(owns("halved"));
  CHECK(owns("masked", {.numbers = {255}}));
  CHECK_FALSE(owns("masked", {.numbers = {127}}));
  CHECK_FALSE(owns("masked", {.numbers = {254}}));
}

TEST_CASE("two threads with a byte in common own nothing") {
  CHECK(owns("shifted_halves", {.numbers = {512}}));
  CHECK_FALSE(owns("shifted_halves", {.numbers = {510}}));
  CHECK_FALSE(owns("by_two"));
  CHECK_FALSE(owns("modulo"));
  CHECK_FALSE(owns("neighbour"));
  CHECK_FALSE(owns("small_step"));
  CHECK_FALSE(owns("of_block"));
  CHECK_FALSE(owns("own_rows"));  // its rounds may lead into the next row
}

TEST_CASE("an array may be written in front of where the first thread is") {
  CHECK(owns("behind"));
}

TEST_CASE("an index that may wrap is not known") {
  CHECK(owns("multiplied", {.numbers = {4}}));
  CHECK(owns("multiplied", {.numbers = {0x00800000}}));
  CHECK_FALSE(owns("multiplied", {.numbers = {0x02000000}}));
  CHECK_FALSE(owns("multiplied", {.numbers = {0xFFFFFFFF}}));  // 0, then the greatest of all
  CHECK_FALSE(owns("hashed"));
}

TEST_CASE("two pointers into one array are looked at together") {
  const Launch apart{.in = kOut + 4 * 256};
  CHECK(owns("two_pointers", apart));
  CHECK_FALSE(owns("two_pointers", {.in = kOut + 4 * 255}));
  CHECK(owns("two_pointers", {.in = kOut}));
  CHECK(owned_by("two_pointers", {}).size() == 2);
}

TEST_CASE("what is accessed in another way is not owned, and what may be keeps all from it") {
  CHECK(owns("counted"));
  CHECK_FALSE(owns("counted", {.in = kOut + 4096}));
  CHECK(owned_by("chased", {}).empty());
  CHECK(owned_by("map", {.out = kOut << 1}).empty());     // it leads to no allocation
  CHECK_FALSE(owned_by("map", {.out = 0x1000}).empty());  // it is no address
}

TEST_CASE(
    "memory that is accessed by atomics of one size alone is owned, if nothing is ordered by "
    "them") {
  const auto name =
      GENERATE(as<std::string>{}, "counted", "compacted", "kept_number", "fenced_sum");
  INFO(name);
  CHECK(owns(name, {}, kIn));
}

TEST_CASE("an atomic whose result decides something, or may be ordered by a fence, owns nothing") {
  const auto name = GENERATE(as<std::string>{}, "decided", "decided_by_all", "fenced",
                             "counted_and_read", "counted_in_two_sizes", "counted_by_block");
  INFO(name);
  CHECK_FALSE(owns(name, {}, kIn));
}

TEST_CASE("what is left out anyway is not looked for") {
  const auto owned = owned_by("map", {}, {{.address = kIn + 64, .bytes = 4}});
  REQUIRE(owned.size() == 1);
  CHECK(owned[0].range.address == kOut);
  REQUIRE(owned[0].accesses.size() == 1);
  const ptx::GlobalAccess& store = *owned[0].accesses[0];
  REQUIRE(store.sites == 1);
  const auto site =
      std::ranges::find(kernels().sites, wire::SiteId{store.first_site}, &ptx::Site::id);
  CHECK(site->instruction.starts_with("st.global"));
}

}  // namespace barracuda::session
