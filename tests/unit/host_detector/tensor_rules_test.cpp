// Copies of boxes of tensors: ordered as bulk copies are, and of no bytes outside their tensor.
#include <array>
#include <cstring>

#include <catch2/catch.hpp>

#include "host_detector/replayer.h"
#include "host_detector/tensor_maps.h"
#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kThread{.warp = 0}, kOther{.warp = 1};
constexpr std::uint64_t kMap = 77;
constexpr std::uint64_t kTensor = 0x7f0000000000;
constexpr std::uint32_t kPitch = 256;

// 32 by 16 elements of 4 bytes in rows of kPitch, boxes of 8 by 4.
TensorMap plain_map() {
  TensorMap map;
  map.address = kTensor;
  map.rank = 2;
  map.element = TensorElement::kU32;
  map.strides[0] = kPitch;
  map.last = {31, 15, 0, 0, 0};
  map.box = {8, 4, 1, 1, 1};
  map.steps = {1, 1, 1, 1, 1};
  return map;
}

constexpr std::uint32_t kBoxBytes = 128;

std::uint64_t element(std::uint32_t x, std::uint32_t y) {
  return kTensor + y * kPitch + x * 4;
}

class TensorScenario : public AsyncScenario {
 public:
  explicit TensorScenario(bool knows_map = true) {
    launch(1, 64);
    if (knows_map) {
      detector.add_tensor_map(kMap, plain_map());
    }
  }

  // Without an mbarrier it is a store.
  SiteId copy(const Who& who, std::uint64_t in_shared, const TensorCoordinates& at,
              std::uint64_t mbarrier = wire::kNoOperand, bool adds = false) {
    SiteInfo site{.operation = Operation::kTensorCopy, .proxy = wire::Proxy::kAsync};
    site.element_bytes = site.element_count = 1;
    site.asynchrony = mbarrier == wire::kNoOperand ? Asynchrony::kBulkGroup : Asynchrony::kMbarrier;
    site.order = adds ? MemoryOrder::kRelaxed : MemoryOrder::kWeak;
    site.scope = adds ? Scope::kGpu : Scope::kSys;
    WarpOperation operation = start(who, site, RecordKind::kTensorCopy);
    operation.lanes.fill({.address = in_shared, .value_read = kMap, .value_written = mbarrier});
    operation.coordinates = at;
    detector.apply(operation);
    return operation.site;
  }

  void load(const TensorCoordinates& at) {
    init(kThread, 1);
    proxy_fence(kThread);
    arrive(kThread, kBoxBytes);
    copy(kThread, shared(0), at, shared(kMbarrier));
  }

  void meet() {
    barrier({.warp = 0, .mask = kAll});
    barrier({.warp = 1, .mask = kAll});
  }
};

}  // namespace

TEST_CASE("a box that was loaded may be read once its mbarrier was waited for") {
  for (const bool waits : {true, false}) {
    TensorScenario scenario;
    scenario.load({8, 4});
    scenario.meet();
    if (waits) {
      scenario.wait(kOther, 0);
    }
    scenario.read(kOther, shared(64));
    CHECK(scenario.races().size() == (waits ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a load touches the elements of its box in the tensor and no others") {
  const auto races_with_write_of = [](std::uint64_t address, const TensorCoordinates& at) {
    TensorScenario scenario;
    scenario.load(at);
    scenario.write(kOther, address);
    CHECK(scenario.detector.rejected() == 0);
    return !scenario.races().empty();
  };
  CHECK(races_with_write_of(element(8, 4), {8, 4}));
  CHECK(races_with_write_of(element(15, 7), {8, 4}));
  CHECK_FALSE(races_with_write_of(element(16, 4), {8, 4}));
  CHECK_FALSE(races_with_write_of(element(7, 4), {8, 4}));
  CHECK_FALSE(races_with_write_of(element(8, 3), {8, 4}));
  CHECK_FALSE(races_with_write_of(element(8, 8), {8, 4}));
  // What is outside the tensor is filled, not read.
  CHECK(races_with_write_of(element(31, 15), {28, 14}));
  CHECK_FALSE(races_with_write_of(element(32, 15), {28, 14}));
  CHECK_FALSE(races_with_write_of(element(28, 16), {28, 14}));
  CHECK_FALSE(races_with_write_of(element(31, 0) - kPitch, {28, -2}));
  CHECK(races_with_write_of(element(31, 0), {28, -2}));
}

TEST_CASE("what is filled is written to shared memory all the same") {
  TensorScenario scenario;
  scenario.load({28, 14});
  scenario.read(kOther, shared(kBoxBytes - 4));
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("a store by a tensor map needs the proxy fence") {
  for (const bool fences : {true, false}) {
    TensorScenario scenario;
    scenario.write(kThread, shared(0));
    if (fences) {
      scenario.proxy_fence(kThread);
    }
    scenario.copy(kThread, shared(0), {0, 0});
    CHECK(scenario.races().size() == (fences ? 0 : 1));
  }
}

TEST_CASE("lanes that store the same box do so once, and warps that do so race") {
  constexpr Who kWarp{.warp = 0, .mask = kAll}, kOtherWarp{.warp = 1, .mask = kAll};
  TensorScenario scenario;
  scenario.copy(kWarp, shared(0), {0, 0});
  CHECK(scenario.is_clean());
  scenario.commit(kWarp, Asynchrony::kBulkGroup);
  scenario.write({.warp = 0, .mask = 2}, shared(0));  // before the wait
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
  TensorScenario waits;
  waits.copy(kWarp, shared(0), {0, 0});
  waits.commit(kWarp, Asynchrony::kBulkGroup);
  waits.wait_group(kWarp, 0, Asynchrony::kBulkGroup);
  waits.barrier(kWarp);
  waits.barrier(kOtherWarp);
  waits.read(kOtherWarp, element(0, 0), 4);
  CHECK(waits.is_clean());
  TensorScenario both;
  both.copy(kWarp, shared(0), {0, 0});
  both.copy(kOtherWarp, shared(0), {0, 0});
  CHECK(both.has_only(Severity::kError));
}

TEST_CASE("wait_group makes a stored box visible, wait_group.read frees the source alone") {
  for (const bool reads_only : {true, false}) {
    TensorScenario scenario;
    scenario.copy(kThread, shared(0), {0, 0});
    scenario.commit(kThread, Asynchrony::kBulkGroup);
    scenario.wait_group(kThread, 0, Asynchrony::kBulkGroup, reads_only);
    scenario.write(kThread, shared(0));
    CHECK(scenario.races().empty());
    scenario.read(kThread, element(3, 2));
    CHECK(scenario.races().size() == (reads_only ? 1 : 0));
  }
}

TEST_CASE("boxes that are added to one tensor do not race, one that is stored does") {
  for (const bool adds : {true, false}) {
    TensorScenario scenario;
    scenario.copy(kThread, shared(0), {0, 0}, wire::kNoOperand, true);
    scenario.copy(kOther, shared(128), {4, 2}, wire::kNoOperand, adds);
    CHECK(scenario.races().empty() == adds);
  }
}

TEST_CASE("a copy by an unknown map is named and touches nothing") {
  TensorScenario scenario(false);
  scenario.load({0, 0});
  scenario.copy(kThread, shared(0), {0, 0}, shared(kMbarrier));
  scenario.read(kOther, shared(0));
  CHECK(scenario.races().empty());
  CHECK(scenario.detector.rejected() == 0);
  const Findings findings = scenario.detector.findings();
  REQUIRE(findings.unknown_maps.size() == 2);
  CHECK(findings.unknown_maps[0].count == 1);
}

TEST_CASE("phases of an mbarrier are complete where copies by an unknown map are waited for") {
  for (const bool arrives_first : {true, false}) {
    TensorScenario scenario(false);
    constexpr std::uint64_t kWritten = 1024;
    scenario.init(kThread, 1);
    scenario.proxy_fence(kThread);
    scenario.meet();
    for (std::uint32_t round = 0; round < 3; ++round) {
      scenario.write(kThread, shared(kWritten + round * 4));
      if (arrives_first) {
        scenario.arrive(kThread, 2 * kBoxBytes);
      }
      scenario.copy(kThread, shared(0), {0, 0}, shared(kMbarrier));
      scenario.copy(kThread, shared(128), {8, 0}, shared(kMbarrier));
      if (!arrives_first) {
        scenario.arrive(kThread, 2 * kBoxBytes);
      }
      scenario.wait(kOther, round % 2);
      scenario.read(kOther, shared(kWritten + round * 4));
    }
    CHECK(scenario.races().empty());
    CHECK(scenario.detector.rejected() == 0);
    scenario.write(kThread, shared(kWritten));
    scenario.read(kOther, shared(kWritten));
    CHECK_FALSE(scenario.races().empty());
  }
}

TEST_CASE("the rows of a box that lie behind each other are one range") {
  TensorMap map = plain_map();
  map.strides[0] = 32;
  map.last[0] = 7;
  const TensorBox box = box_of(map, {0, 2}, 0, 1 << 16);
  CHECK(box.rows == std::vector<ByteRange>{{.address = kTensor + 64, .bytes = 128}});
  CHECK(box.bytes == 128);
  CHECK(box_of(map, {0, 2}, 0, 127).bytes == 0);
}

TEST_CASE("a load of pixels touches those that its offsets lead to") {
  // Three images of 4 by 4 pixels with 4 channels of 4 bytes.
  TensorMap map = plain_map();
  map.rank = 4;
  map.last = {3, 3, 3, 2, 0};
  map.strides = {16, 64, 256, 0};
  map.box = {4, 1, 1, 1, 1};
  map.lower = {-1, -1, 0};
  map.upper = {-1, -1, 0};
  map.pixels = 6;
  const TensorBox box = box_of(map, {0, -1, 0, 1}, 0, 1 << 16, {1, 2, 0});
  CHECK(box.bytes == 6 * 16);
  // Four pixels to a line: columns 0 to 3 of line 2, then 0 and 1 of line 3.
  CHECK(box.rows == std::vector<ByteRange>{{.address = kTensor + 256 + 128, .bytes = 96}});
  CHECK(box.pieces == std::vector<ByteRange>{{.address = 0, .bytes = 96}});
}

TEST_CASE("rows that are shorter than the lines of their swizzle are told piece by piece") {
  TensorMap map = plain_map();
  map.box = {8, 2, 1, 1, 1};
  map.swizzle = TensorSwizzle::k128Bytes;
  const TensorBox box = box_of(map, {0, 0}, shared(1024), 1 << 16);
  CHECK(box.bytes == 64);
  CHECK(box.pieces == std::vector<ByteRange>{{.address = 0, .bytes = 32},
                                             {.address = 128 + 16, .bytes = 16},
                                             {.address = 128, .bytes = 16}});
}

TEST_CASE("the record of a copy has its map, its coordinates and its addresses") {
  wire::HeaderHalf header{};
  header.kind = static_cast<std::uint32_t>(RecordKind::kTensorCopy);
  header.site = 5;
  header.mask = 1U << 9;
  wire::PatternHalf pattern{};
  pattern.warp = 3;
  wire::TensorCopy copy{};
  copy.shared.address_low = 0x80;
  copy.shared.address_high = static_cast<std::uint32_t>(shared(0) >> 32);
  copy.shared.flags = 3;
  copy.shared.number = static_cast<std::uint32_t>(-7);
  copy.map.value_low = 0x11111111;
  copy.map.value_high = 0x22222222;
  copy.map.reserved1 = 2;
  copy.mbarrier.value_low = 0x100;
  copy.mbarrier.value_high = static_cast<std::uint32_t>(shared(0) >> 32);
  copy.mbarrier.reserved1 = 3;
  copy.more.value_low = 4;
  copy.more.value_high = static_cast<std::uint32_t>(-5);
  copy.more.reserved1 = wire::pixel_offsets(0x123, 0x45, 0x67);
  std::array<std::byte, 3 * wire::kSlotBytes> record;
  const auto read = [&](WarpOperation& operation, std::size_t bytes) {
    std::memcpy(record.data(), &header, sizeof header);
    std::memcpy(record.data() + wire::kHalfBytes, &pattern, sizeof pattern);
    std::memcpy(record.data() + wire::kSlotBytes, &copy, sizeof copy);
    return read_record(std::span(record).first(bytes), operation);
  };
  WarpOperation operation;
  REQUIRE(read(operation, record.size()));
  CHECK(operation.kind == RecordKind::kTensorCopy);
  CHECK(operation.site == SiteId{5});
  CHECK(operation.warp == 3);
  CHECK(operation.lanes[9].address == shared(0x80));
  CHECK(operation.lanes[9].flags == 3);
  CHECK(operation.lanes[9].value_read == 0x2222222211111111);
  CHECK(operation.lanes[9].value_written == shared(0x100));
  CHECK(operation.coordinates == TensorCoordinates{-7, 2, 3, 4, -5});
  CHECK(operation.offsets == PixelOffsets{0x123, 0x45, 0x67});
  CHECK_FALSE(read(operation, 2 * wire::kSlotBytes));
  header.mask = 3;
  CHECK_FALSE(read(operation, record.size()));
  // Without an mbarrier it may be the copy of several lanes.
  copy.mbarrier.value_low = copy.mbarrier.value_high = ~0U;
  header.mask = 6;
  REQUIRE(read(operation, record.size()));
  CHECK(operation.mask == 6);
  CHECK(operation.lanes[1].value_read == 0x2222222211111111);
}

}  // namespace barracuda::detector::test
