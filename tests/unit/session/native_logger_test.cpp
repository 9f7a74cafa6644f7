// The native logger against the logger's PTX: the same accesses make the same bytes in the queue.
#include "session/native_logger.h"

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "device_logger/launch_descriptor.h"
#include "emulator/machine.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"

namespace barracuda::session {
namespace {

constexpr std::uint32_t kSlotsLog2 = 14;
constexpr std::uint32_t kLanes = 32;

// What the kernels access, at the same addresses on every machine.
struct alignas(256) Area {
  std::array<std::int64_t, kLanes> offsets;
  std::array<std::uint32_t, kLanes> values;
  std::uint32_t mask;
  std::array<std::uint32_t, kLanes> sink;
  alignas(16) std::array<std::byte, 1 << 16> data;
};

ptx::InstrumentedModule instrumented_kernels() {
  auto text = read_file(BARRACUDA_LOGGER_KERNELS);
  REQUIRE(text);
  auto unit = ptx::parse(std::move(*text));
  REQUIRE(unit);
  std::vector<ptx::Module> units;
  units.push_back(std::move(*unit));
  auto instrumented = ptx::instrument(std::move(units), {.first_site = wire::SiteId{1}});
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

class LoggingMachine {
 public:
  LoggingMachine(const std::string& ptx, Area& area,
                 std::span<const emulator::NativeFunction> hooks)
      : machine_({.seed = 1, .native_functions = hooks}), ring_(wire::kSlotBytes << kSlotsLog2) {
    auto loaded = machine_.load(ptx);
    REQUIRE(loaded);
    module_ = std::move(*loaded);
    share(&area, sizeof area);
    share(ring_.data(), ring_.size());
    share(&descriptor_, sizeof descriptor_);
    share(positions_.data(), sizeof positions_);
    descriptor_.queue_count = 1;
    descriptor_.slots_log2 = kSlotsLog2;
    descriptor_.rings = reinterpret_cast<std::uint64_t>(ring_.data());
    descriptor_.heads = reinterpret_cast<std::uint64_t>(positions_.data());
    descriptor_.read_positions = descriptor_.heads + wire::kHeadStride;
  }

  void launch(const char* kernel, std::uint32_t threads, std::vector<std::uint64_t> parameters) {
    parameters.push_back(reinterpret_cast<std::uint64_t>(&descriptor_));
    const auto error = machine_.launch(*emulator::Machine::find_kernel(*module_, kernel),
                                       {.block = {threads}}, std::as_bytes(std::span(parameters)));
    INFO(error.message);
    REQUIRE(error.code == emulator::DeviceErrorCode::kNone);
  }

  // Its eight words.
  [[nodiscard]] std::array<std::uint32_t, 8> slot(std::uint64_t number) const {
    std::array<std::uint32_t, 8> words;
    std::memcpy(words.data(), ring_.data() + number * wire::kSlotBytes, sizeof words);
    return words;
  }

  [[nodiscard]] std::uint64_t claimed() const { return positions_[0]; }

  [[nodiscard]] std::uint64_t instructions() const { return machine_.warp_instructions(); }

 private:
  void share(const void* memory, std::size_t bytes) {
    machine_.memory().register_host(reinterpret_cast<std::uint64_t>(memory), bytes);
  }

  emulator::Machine machine_;
  std::shared_ptr<emulator::LoadedModule> module_;
  wire::LaunchDescriptor descriptor_;
  std::vector<std::byte> ring_;
  alignas(128) std::array<std::uint64_t, 32> positions_ = {};
};

// Offsets in the shapes that the logger tells apart, and some in none.
std::array<std::int64_t, kLanes> random_offsets(std::mt19937& random) {
  std::array<std::int64_t, kLanes> offsets{};
  const std::size_t row = std::size_t{1} << random() % 6;
  const auto column_step = static_cast<std::int64_t>(random() % 4) * 4;
  const auto row_step = static_cast<std::int64_t>(random() % 9) * 32;
  const bool is_scattered = random() % 4 == 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    offsets[lane] = is_scattered ? static_cast<std::int64_t>(random() % 64) * 4
                                 : 512 + static_cast<std::int64_t>(lane % row) * column_step +
                                       static_cast<std::int64_t>(lane / row) * row_step;
  }
  return offsets;
}

}  // namespace

TEST_CASE("the native logger writes what the logger's PTX writes", "[logger]") {
  static Area area;
  const std::string ptx = instrumented_kernels().text;
  LoggingMachine by_ptx(ptx, area, {}), native(ptx, area, native_logger());
  const auto address = [](const void* memory) { return reinterpret_cast<std::uint64_t>(memory); };
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    area.offsets = random_offsets(random);
    // Without divergence, in which instructions of hooks and of the program take turns.
    area.mask = ~0U;
    const std::uint32_t threads = round % 3 == 0 ? kLanes : 1 + random() % kLanes;
    const std::uint32_t different = round % 2 == 0 ? 1 : 3;
    for (std::uint32_t& value : area.values) {
      value = static_cast<std::uint32_t>(random() % different);
    }
    for (LoggingMachine* machine : {&by_ptx, &native}) {
      area.data.fill({});
      machine->launch("read_pattern", threads,
                      {address(area.data.data()), address(&area.offsets), address(&area.mask),
                       address(&area.sink)});
      machine->launch("write_pattern", threads,
                      {address(area.data.data()), address(&area.offsets), address(&area.values)});
      machine->launch("write_wide", threads,
                      {address(area.data.data()), address(&area.offsets), address(&area.values)});
    }
  }
  CHECK(native.claimed() > 3000);
  CHECK(native.claimed() == by_ptx.claimed());
  for (std::uint64_t slot = 0; slot < native.claimed(); ++slot) {
    INFO("slot " << slot);
    REQUIRE(native.slot(slot) == by_ptx.slot(slot));
  }
  CHECK(native.instructions() * 4 < by_ptx.instructions());
}

}  // namespace barracuda::session
