#include "logged_machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <regex>
#include <utility>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/strong_id.h"
#include "device_logger/order_number.h"
#include "device_logger/word_owners.h"
#include "ptx/parse.h"
#ifdef BARRACUDA_NATIVE_LOGGER
#  include "session/native_logger.h"
#endif

namespace barracuda::wire {
namespace {

ptx::InstrumentedModule instrument_file(const std::string& path, bool is_tritons,
                                        const ptx::InstrumentOptions& options) {
  auto text = read_file(path);
  REQUIRE(text);
  if (is_tritons) {
    const std::string behind = ".address_size 64";
    const std::size_t at = text->find(behind);
    REQUIRE(at != std::string::npos);
    text->insert(at + behind.size(), "\n.extern .shared .align 16 .b8 global_smem[];\n");
  }
  auto unit = ptx::parse(std::move(*text));
  REQUIRE(unit);
  std::vector<ptx::Module> units;
  units.push_back(std::move(*unit));
  auto instrumented = ptx::instrument(std::move(units), options);
  INFO((instrumented ? "" : instrumented.error().to_string()));
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

std::string with_two_sites_a_call(const std::string& text) {
  static const std::regex kSite(R"(st\.param\.b32 \[__barracuda_p0\], (\d+);)");
  return std::regex_replace(
      text, kSite,
      ".reg .b32 %__site; mov.u32 %__site, %laneid; and.b32 %__site, %__site, 1; "
      "add.u32 %__site, %__site, $1; st.param.b32 [__barracuda_p0], %__site;");
}

// The logger's own PTX, or what stands for it on the emulated device.
std::span<const emulator::NativeFunction> hooks() {
#ifdef BARRACUDA_NATIVE_LOGGER
  return session::native_logger();
#else
  return {};
#endif
}

std::uint64_t join_words(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

}  // namespace

LoggedMachine::LoggedMachine(const std::string& ptx_path, const LogOptions& options)
    : options_(options),
      machine_({.seed = 1,
                .mixes_member_masks = true,
                .launch_timeout_ms = 120000,
                .native_functions = hooks()}),
      instrumented_(instrument_file(ptx_path, options.is_tritons,
                                    {.first_site = SiteId{1000},
                                     .renumbers_blocks = options.block_order.window != 0,
                                     .tells_shared_places = options.tells_shared_places})),
      positions_(options.queues) {
  auto loaded = machine_.load(options.two_sites_a_call ? with_two_sites_a_call(instrumented_.text)
                                                       : instrumented_.text);
  INFO((loaded ? "" : loaded.error().to_string()));
  REQUIRE(loaded);
  module_ = std::move(*loaded);
  descriptor_ = new (at<void>(allocate(sizeof(LaunchDescriptor)))) LaunchDescriptor;
  descriptor_->launch = 0x1234;
  descriptor_->queue_count = options.queues;
  descriptor_->slots_log2 = options.slots_log2;
  descriptor_->rings = allocate(options.queues * (kSlotBytes << options.slots_log2));
  descriptor_->heads = allocate(std::size_t{options.queues} * kHeadStride);
  descriptor_->read_positions = allocate(std::size_t{options.queues} * kReadPositionStride);
  descriptor_->order_counters = allocate(std::size_t{kOrderCounters} * 4);
  descriptor_->commit_mode = options.mode;
  descriptor_->block_order = options.block_order;
  descriptor_->steady_claims = options.steady_claims ? 1 : 0;
}

void LoggedMachine::set_read_position(std::uint64_t slot) {
  std::atomic_ref(*at<std::uint64_t>(descriptor_->read_positions)).store(slot);
}

void LoggedMachine::make_quiet(SiteId site) {
  if (descriptor_->quiet_sites == 0) {
    descriptor_->quiet_sites = allocate(kQuietWords * sizeof(std::uint32_t));
  }
  const auto id = static_cast<std::uint32_t>(site);
  at<std::uint32_t>(descriptor_->quiet_sites)[id / 32] |= 1U << id % 32;
}

std::uint64_t LoggedMachine::allocate(std::size_t bytes) {
  const auto address = machine_.memory().allocate(bytes, emulator::AllocationKind::kHost);
  REQUIRE(address);
  std::memset(at<void>(*address), 0, bytes);
  return *address;
}

void LoggedMachine::watch(const std::string& kernel, std::uint32_t ctas, std::uint64_t address,
                          std::uint64_t bytes) {
  const auto facts = std::ranges::find(instrumented_.kernels, kernel, &ptx::Kernel::name);
  REQUIRE(facts != instrumented_.kernels.end());
  REQUIRE(facts->keeps_owners);
  const std::uint64_t states = (bytes >> facts->owner_granule_log2) * kOwnerBytes;
  descriptor_->states = block_states(*facts, ctas);
  descriptor_->owners = allocate(2 * states) + states;
  descriptor_->unlogged = {.count = 1, .watched = 1};
  descriptor_->unlogged.ranges[0] = {.address = address, .bytes = bytes};
}

void LoggedMachine::keep_states(const std::string& kernel, std::uint32_t ctas) {
  const auto facts = std::ranges::find(instrumented_.kernels, kernel, &ptx::Kernel::name);
  REQUIRE(facts != instrumented_.kernels.end());
  REQUIRE(facts->keeps_states);
  descriptor_->states = block_states(*facts, ctas);
}

SharedStates LoggedMachine::block_states(const ptx::Kernel& kernel, std::uint32_t ctas) {
  constexpr std::uint32_t kWindow = 4096;
  const std::uint64_t all = block_bytes(kWindow, kernel.state_granule_log2);
  // Whatever test this is: all in global memory, the header in shared memory, and the states too.
  const auto in_shared = GENERATE(0U, 1U, 2U);
  own_shared_ = static_cast<std::uint32_t>(in_shared == 0   ? 0
                                           : in_shared == 1 ? kStatesHeader
                                                            : all);
  return {.address = allocate(kEndedBlocksBytes),
          .blocks = allocate(ctas * all),
          .own_begin = 0,
          .own_bytes = own_shared_,
          .window = kWindow,
          .first_site = index_of(kernel.state_sites) & (kMaxSites - 1),
          .granule_log2 = kernel.state_granule_log2 & 3,
          .owner_granule_log2 = kernel.owner_granule_log2 & 3,
          .keeps_copies = kernel.keeps_copies ? 1U : 0U};
}

void LoggedMachine::launch(const std::string& kernel, std::uint32_t ctas, std::uint32_t threads,
                           const std::vector<std::uint64_t>& parameters, std::uint32_t cluster) {
  const auto facts = std::ranges::find(instrumented_.kernels, kernel, &ptx::Kernel::name);
  REQUIRE(facts != instrumented_.kernels.end());
  REQUIRE(facts->instrumented);
  REQUIRE(facts->parameters.size() == parameters.size());
  std::vector<std::byte> buffer(facts->hidden_parameter_offset + facts->hidden_parameter_bytes());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::memcpy(buffer.data() + facts->parameters[i].offset, &parameters[i],
                facts->parameters[i].size);
  }
  const auto descriptor = reinterpret_cast<std::uint64_t>(descriptor_);
  if (options_.with_descriptor) {
    std::memcpy(buffer.data() + facts->hidden_parameter_offset, &descriptor, 8);
  }
  const emulator::LoadedKernel* loaded = emulator::Machine::find_kernel(*module_, kernel);
  REQUIRE(loaded != nullptr);
  const auto error = machine_.launch(*loaded,
                                     {.grid = {ctas},
                                      .block = {threads},
                                      .cluster = {cluster},
                                      .dynamic_shared_bytes = own_shared_},
                                     buffer);
  INFO(error.message);
  REQUIRE(error.code == emulator::DeviceErrorCode::kNone);
}

template <typename Half>
bool LoggedMachine::load(std::uint32_t queue, std::uint64_t slot, std::uint32_t half,
                         Half& into) const {
  const std::uint64_t index = slot & ((std::uint64_t{1} << options_.slots_log2) - 1);
  const std::uint64_t address = descriptor_->rings +
                                queue * (std::uint64_t{kSlotBytes} << options_.slots_log2) +
                                index * kSlotBytes + half * kHalfBytes;
  static_assert(sizeof(Half) == kHalfBytes);
  std::memcpy(&into, at<void>(address), kHalfBytes);
  std::atomic_thread_fence(std::memory_order_acquire);
  return into.tag == lap_tag(slot, options_.slots_log2);
}

bool LoggedMachine::read_entries(LoggedRecord& record) const {
  std::uint64_t entry = 0;
  for (int lane = 0; lane < static_cast<int>(kWarpLanes); ++lane) {
    if ((record.header.mask >> lane & 1) == 0) {
      continue;
    }
    LoggedLane& logged = record.lanes[lane];
    if (record.kind() == RecordKind::kScattered) {
      LaneAddress half;
      if (!load(record.queue, record.slot + 1 + entry / 2, entry % 2, half)) {
        return false;
      }
      logged = {.address = join_words(half.address_low, half.address_high), .flags = half.flags};
    } else {
      const std::uint64_t stride = record.kind() == RecordKind::kAcquire ? 1 : 2;
      const std::uint64_t slot = record.slot + 1 + entry * stride;
      LaneSyncHalf sync;
      LaneValueHalf read, written{}, padding;
      if (!load(record.queue, slot, 0, sync) || !load(record.queue, slot, 1, read) ||
          (stride == 2 && (!load(record.queue, slot + 1, 0, written) ||
                           !load(record.queue, slot + 1, 1, padding)))) {
        return false;
      }
      logged = {.address = join_words(sync.address_low, sync.address_high),
                .flags = sync.flags,
                .number = sync.number,
                .read = join_words(read.value_low, read.value_high),
                .written = join_words(written.value_low, written.value_high)};
    }
    ++entry;
  }
  return true;
}

bool LoggedMachine::read_one(std::uint32_t queue, LoggedRecord& record) {
  record = {};
  record.queue = queue;
  record.slot = positions_[queue];
  if (!load(queue, record.slot, 0, record.header) || !load(queue, record.slot, 1, record.pattern)) {
    return false;
  }
  const auto lanes = static_cast<std::uint32_t>(__builtin_popcount(record.header.mask));
  const bool is_uniform = (record.pattern.flags & kUniformValue) != 0;
  if (record.kind() == RecordKind::kAffine || record.kind() == RecordKind::kAffineValue ||
      record.kind() == RecordKind::kEarlier || record.kind() == RecordKind::kSettled) {
    LaneValueHalf value{}, padding;
    const bool has_slot = record.kind() != RecordKind::kAffine;
    if (has_slot &&
        (!load(queue, record.slot + 1, 0, value) || !load(queue, record.slot + 1, 1, padding))) {
      return false;
    }
    if (has_slot) {
      record.uniform_value = join_words(value.value_low, value.value_high);
    } else if (is_uniform) {
      record.uniform_value = static_cast<std::uint32_t>(record.pattern.stride1);
    }
    const std::uint64_t base = join_words(record.pattern.base_low, record.pattern.base_high);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((record.header.mask >> lane & 1) != 0) {
        const std::uint32_t w = 1U << record.header.width_log2;
        const std::int64_t rows = is_uniform && !has_slot ? 0 : lane / w;
        record.lanes[static_cast<int>(lane)].address =
            base + static_cast<std::uint64_t>(std::int64_t{lane % w} * record.pattern.stride0 +
                                              rows * record.pattern.stride1);
      }
    }
  } else if (record.kind() != RecordKind::kEvent && record.kind() != RecordKind::kBlockEvent &&
             !read_entries(record)) {
    return false;
  }
  if (record.kind() == RecordKind::kScattered && is_uniform) {
    record.uniform_value =
        join_words(record.pattern.base_low, static_cast<std::uint32_t>(record.pattern.stride1));
  }
  const std::uint32_t slots = record_slots(record.kind(), lanes);
  if (record.kind() == RecordKind::kScattered && lanes % 2 == 1) {
    LaneAddress unused;
    if (!load(queue, record.slot + slots - 1, 1, unused)) {
      return false;
    }
  }
  positions_[queue] += slots;
  std::atomic_ref<std::uint64_t>(
      *at<std::uint64_t>(descriptor_->read_positions + queue * std::uint64_t{kReadPositionStride}))
      .store(positions_[queue], std::memory_order_release);
  return true;
}

std::vector<LoggedRecord> LoggedMachine::read() {
  std::vector<LoggedRecord> records;
  LoggedRecord record;
  for (std::uint32_t queue = 0; queue < options_.queues; ++queue) {
    while (read_one(queue, record)) {
      records.push_back(record);
    }
  }
  return records;
}

std::vector<LoggedRecord> LoggedMachine::read(const std::string& instruction) {
  std::vector<LoggedRecord> records = read();
  std::erase_if(records, [&](const LoggedRecord& record) {
    return !site_of(record).instruction.starts_with(instruction);
  });
  return records;
}

const ptx::Site& LoggedMachine::site_of(const LoggedRecord& record) const {
  const std::uint32_t first = index_of(instrumented_.sites.front().id);
  REQUIRE(record.header.site >= first);
  REQUIRE(record.header.site - first < instrumented_.sites.size());
  return instrumented_.sites[record.header.site - first];
}

std::uint64_t LoggedMachine::claimed(std::uint32_t queue) const {
  return *at<std::uint64_t>(descriptor_->heads + queue * std::uint64_t{kHeadStride});
}

}  // namespace barracuda::wire
