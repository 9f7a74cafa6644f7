// Whatever addresses the lanes of a warp touch, the record says exactly these.
#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

constexpr std::uint32_t kWarps = 64;
constexpr std::uint32_t kThreads = kWarps * kWarpLanes;
constexpr std::int64_t kBytes = 1 << 22;

class Offsets {
 public:
  explicit Offsets(std::uint32_t seed) : random_(seed) {}

  // 32 offsets, multiples of 4 in [0, kBytes).
  std::vector<std::int64_t> next() {
    const int shape = pick(0, 5);
    const int width = 1 << pick(1, 4);
    const std::int64_t base = 4 * pick(200000, 600000);
    const std::int64_t stride0 = 4 * pick(-8, 8), stride1 = 4 * pick(-3000, 3000);
    std::vector<std::int64_t> offsets;
    for (int lane = 0; lane < 32; ++lane) {
      switch (shape) {
        case 0:
          offsets.push_back(base);
          break;
        case 1:
          offsets.push_back(base + lane * stride0);
          break;
        case 2:
          offsets.push_back(base + lane * 4 * 10000);
          break;
        case 3:
        case 4:
          offsets.push_back(base + lane % width * stride0 + lane / width * stride1);
          break;
        default:
          offsets.push_back(4 * pick(0, 1000000));
          break;
      }
    }
    return offsets;
  }

  std::uint32_t next_mask() {
    const std::uint32_t random = static_cast<std::uint32_t>(random_());
    switch (pick(0, 3)) {
      case 0:
        return random;
      case 1:
        return 0xFFFFFFFE & ~(1U << pick(0, 31));
      case 2:
        return 1U << pick(0, 31);
      default:
        return 0xFFFFFFFF;
    }
  }

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  std::mt19937 random_;
};

struct Arrays {
  std::uint64_t base, offsets, masks, values, sink;
};

Arrays allocate(LoggedMachine& machine) {
  return {.base = machine.allocate(kBytes),
          .offsets = machine.allocate(kThreads * 8),
          .masks = machine.allocate(kWarps * 4),
          .values = machine.allocate(kThreads * 4),
          .sink = machine.allocate(kThreads * 4)};
}

}  // namespace

TEST_CASE("a read's record names the address of every active lane", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.mode = mode});
  const Arrays arrays = allocate(machine);
  Offsets random(5);
  std::vector<std::vector<std::int64_t>> offsets(kWarps);
  std::vector<std::uint32_t> masks(kWarps);
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    offsets[warp] = random.next();
    std::copy(offsets[warp].begin(), offsets[warp].end(),
              LoggedMachine::at<std::int64_t>(arrays.offsets) + warp * 32);
    masks[warp] = LoggedMachine::at<std::uint32_t>(arrays.masks)[warp] = random.next_mask();
  }
  machine.launch("read_pattern", kWarps / 4, 128,
                 {arrays.base, arrays.offsets, arrays.masks, arrays.sink});
  std::size_t seen = 0, affine = 0;
  for (const LoggedRecord& record : machine.read("ld.volatile")) {
    const std::uint32_t warp = record.header.cta * 4 + record.pattern.warp;
    REQUIRE(warp < kWarps);
    CHECK(record.header.launch == 0x1234);
    affine += record.kind() == RecordKind::kAffine ? 1 : 0;
    for (const auto& [lane, logged] : record.lanes) {
      INFO("warp " << warp << " lane " << lane);
      CHECK(logged.address == arrays.base + static_cast<std::uint64_t>(
                                                offsets[warp][static_cast<std::size_t>(lane)]));
      CHECK((masks[warp] >> lane & 1) == 1);
      ++seen;
    }
  }
  std::size_t expected = 0;
  for (const std::uint32_t mask : masks) {
    expected += static_cast<std::size_t>(__builtin_popcount(mask));
  }
  CHECK(seen == expected);
  CHECK(affine > kWarps / 2);
}

TEST_CASE("a store's record says where overlapping lanes stored the same", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine);
  Offsets random(6);
  auto* offsets = LoggedMachine::at<std::int64_t>(arrays.offsets);
  auto* values = LoggedMachine::at<std::int32_t>(arrays.values);
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    const auto pattern = random.next();
    std::copy(pattern.begin(), pattern.end(), offsets + warp * 32);
    const int range = random.pick(0, 2) * random.pick(0, 1);
    for (int lane = 0; lane < 32; ++lane) {
      values[warp * 32 + static_cast<std::uint32_t>(lane)] = random.pick(0, range);
    }
  }
  machine.launch("write_pattern", kWarps / 2, 64, {arrays.base, arrays.offsets, arrays.values});
  std::size_t records = 0, agreeing = 0, uniform = 0;
  for (const LoggedRecord& record : machine.read("st.")) {
    const std::uint32_t first = (record.header.cta * 2 + record.pattern.warp) * 32;
    std::map<std::uint64_t, std::vector<std::int32_t>> by_address;
    for (const auto& [lane, logged] : record.lanes) {
      const std::uint32_t thread = first + static_cast<std::uint32_t>(lane);
      CHECK(logged.address == arrays.base + static_cast<std::uint64_t>(offsets[thread]));
      by_address[logged.address].push_back(values[thread]);
    }
    const auto agrees = [](const std::vector<std::int32_t>& stored) {
      return std::all_of(stored.begin(), stored.end(), [&](auto v) { return v == stored[0]; });
    };
    if (record.kind() == RecordKind::kScattered) {
      for (const auto& [lane, logged] : record.lanes) {
        if (by_address[logged.address].size() > 1) {
          CHECK(((logged.flags & kLaneAgrees) != 0) == agrees(by_address[logged.address]));
        }
      }
    } else if (by_address.size() < record.lanes.size()) {
      const bool all = std::all_of(by_address.begin(), by_address.end(),
                                   [&](const auto& item) { return agrees(item.second); });
      CHECK(((record.pattern.flags & kLanesAgree) != 0) == all);
      agreeing += all ? 1 : 0;
    }
    const bool is_uniform = std::all_of(values + first, values + first + 32,
                                        [&](auto value) { return value == values[first]; });
    REQUIRE(record.uniform_value.has_value() == is_uniform);
    if (is_uniform) {
      ++uniform;
      CHECK(*record.uniform_value == static_cast<std::uint32_t>(values[first]));
    }
    ++records;
  }
  CHECK(records == kWarps);
  CHECK(agreeing > 0);
  CHECK(uniform > 0);
}

TEST_CASE("a store of 8 or 16 bytes says what all lanes stored, wherever that was", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.mode = mode});
  const std::uint64_t base = machine.allocate(4 * kBytes);
  const Arrays arrays = allocate(machine);
  Offsets random(7);
  auto* offsets = LoggedMachine::at<std::int64_t>(arrays.offsets);
  auto* values = LoggedMachine::at<std::int32_t>(arrays.values);
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    const auto pattern = random.next();
    std::copy(pattern.begin(), pattern.end(), offsets + warp * 32);
    const int range = random.pick(0, 1);
    for (int lane = 0; lane < 32; ++lane) {
      values[warp * 32 + static_cast<std::uint32_t>(lane)] = random.pick(0, range);
    }
  }
  machine.launch("write_wide", kWarps / 2, 64, {base, arrays.offsets, arrays.values});
  std::map<RecordKind, std::size_t> uniform;
  for (const LoggedRecord& record : machine.read("st.")) {
    const std::uint32_t first = (record.header.cta * 2 + record.pattern.warp) * 32;
    for (const auto& [lane, logged] : record.lanes) {
      CHECK(logged.address == base + 4 * static_cast<std::uint64_t>(
                                             offsets[first + static_cast<std::uint32_t>(lane)]));
    }
    const bool is_uniform = std::all_of(values + first, values + first + 32,
                                        [&](auto value) { return value == values[first]; });
    REQUIRE(record.uniform_value.has_value() == is_uniform);
    if (is_uniform) {
      const auto value = static_cast<std::uint64_t>(values[first]);
      const bool is_vector = machine.site_of(record).info.element_count == 4;
      CHECK(*record.uniform_value ==
            (is_vector ? stored_value(value | std::uint64_t{1} << 32, 2 | (value + 3) << 32)
                       : value << 32 | 9));
      ++uniform[record.kind()];
    }
  }
  CHECK(uniform[RecordKind::kAffineValue] > 10);
  CHECK(uniform[RecordKind::kScattered] > 2);
}

TEST_CASE("shared offsets are tagged, and local memory is not logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::uint64_t out = machine.allocate(1024);
  machine.launch("use_generic", 1, 64, {out, 2});
  std::size_t global = 0, shared = 0;
  for (const LoggedRecord& record : machine.read("st.u32")) {
    for (const auto& [lane, logged] : record.lanes) {
      CHECK(lane % 2 == 1);
      if (space_of(logged.address) == AddressSpace::kGlobal) {
        CHECK(logged.address == out + 4 * static_cast<std::uint64_t>(lane));
        ++global;
      } else {
        CHECK(space_of(logged.address) == AddressSpace::kShared);
        CHECK(address_of(logged.address) < 1024);
        ++shared;
      }
    }
  }
  CHECK(global == 16);
  CHECK(shared == 16);
  CHECK(LoggedMachine::at<int>(out)[64] == 0);
  CHECK(LoggedMachine::at<int>(out)[65] == 3);
}

}  // namespace barracuda::wire
