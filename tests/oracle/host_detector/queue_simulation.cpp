#include "tests/oracle/host_detector/queue_simulation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <optional>

#include "device_logger/order_number.h"
#include "tests/oracle/host_detector/reference_detector.h"
#include "tests/oracle/host_detector/work_number.h"

namespace barracuda::oracle {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

constexpr std::uint32_t kLanes = 2;  // of each warp
// Ends of prerequisites are numbered like copies.
constexpr std::uint32_t kFirstEndNumber = 1000;
constexpr std::uint64_t kData = 0x10000, kSync = 0x20000;
constexpr std::uint32_t kDataWords = 3, kSyncWords = 3;

using Numbers = std::array<std::uint32_t, wire::kWarpLanes>;

class RecordBytesWriter {
 public:
  void append(const auto& half) {
    const auto* from = reinterpret_cast<const std::byte*>(&half);
    bytes_.insert(bytes_.end(), from, from + sizeof(half));
  }

  void value(std::uint64_t bits) {
    append(wire::LaneValueHalf{.tag = 0,
                               .reserved0 = 0,
                               .value_low = static_cast<std::uint32_t>(bits),
                               .value_high = static_cast<std::uint32_t>(bits >> 32),
                               .reserved1 = 0});
  }

  void header(const detector::WarpOperation& what) {
    append(wire::HeaderHalf{.tag = 0,
                            .launch = static_cast<std::uint16_t>(what.launch),
                            .site = static_cast<std::uint32_t>(what.site) & 0xFFFFFF,
                            .kind = static_cast<std::uint32_t>(what.kind) & 0xF,
                            .width_log2 = 0,
                            .mask = what.mask,
                            .cta = what.cta});
    append(wire::PatternHalf{.tag = 0,
                             .stride0 = 0,
                             .base_low = what.event_operand,
                             .base_high = 0,
                             .warp = what.warp & 31U,
                             .flags = 0,
                             .stride1 = 0});
  }

  void lane(const detector::WarpOperation& what, std::uint32_t lane, std::uint32_t number) {
    const detector::LaneAccess& access = what.lanes[lane];
    const auto low = static_cast<std::uint32_t>(access.address);
    const auto high = static_cast<std::uint32_t>(access.address >> 32);
    if (what.kind == RecordKind::kScattered) {
      append(wire::LaneAddress{.tag = 0,
                               .flags = access.flags,
                               .address_low = low,
                               .address_high = high,
                               .reserved = 0});
      return;
    }
    append(wire::LaneSyncHalf{.tag = 0,
                              .flags = access.flags,
                              .address_low = low,
                              .address_high = high,
                              .number = number});
    value(access.value_read);
    if (what.kind == RecordKind::kRelease) {
      value(access.value_written);
      value(0);
    }
  }

  std::vector<std::byte> take() {
    while (bytes_.size() % wire::kSlotBytes != 0) {
      append(wire::LaneAddress{});
    }
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> bytes_of(const detector::WarpOperation& what, const Numbers& numbers) {
  RecordBytesWriter writer;
  writer.header(what);
  for (std::uint32_t rest = what.mask; rest != 0 && what.kind != RecordKind::kEvent;
       rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    writer.lane(what, lane, numbers[lane]);
  }
  return writer.take();
}

// Where a warp is within the logging of one instruction.
enum class Stage : std::uint8_t { kIdle, kClaimed, kNumbered, kAccessed, kStamped };

struct Warp {
  std::uint32_t launch = 0, cta = 0, index = 0;
  std::uint32_t alive = (1U << kLanes) - 1;
  Stage stage = Stage::kIdle;
  detector::WarpOperation release, acquire;
  std::optional<std::size_t> slot;  // of the release record in its queue
  Numbers numbers{};
};

class Device {
 public:
  explicit Device(const ProgramShape& shape)
      : shape_(shape), state_({}), counters_(wire::kOrderCounters) {
    program_.queues.resize(shape.queues);
  }

  QueuedProgram run() {
    begin_launch();
    for (const std::uint32_t choice : shape_.choices) {
      if (choice % 97 == 96 && launches_ < shape_.launches) {
        finish_launch();
        begin_launch();
        continue;
      }
      if (choice % 97 == 95) {
        host_copy(choice / 97);
        continue;
      }
      step(warps_[choice / 97 % warps_.size()], choice / 1009);
    }
    finish_launch();
    return std::move(program_);
  }

 private:
  void begin_launch() {
    detector::LaunchInfo info{.id = LaunchId{++launches_}};
    info.grid.x = shape_.ctas;
    info.block.x = 32 * (shape_.warps - 1) + kLanes;
    info.cluster.x = shape_.clusters ? 2 : 1;
    if (launches_ > 1) {
      info.ordered_after = {LaunchId{launches_ - 1}};
      std::ranges::copy_if(copies_, std::back_inserter(info.ordered_after),
                           [&](WorkId copy) { return number_of(copy) % 2 == launches_ % 2; });
      if (launches_ % 3 != 1) {
        info.prerequisite = LaunchId{launches_ - 1};
        info.prerequisite_over = detector::CopyId{kFirstEndNumber + launches_};
      }
    }
    state_.begin_launch(info);
    program_.trace.steps.emplace_back(info);
    warps_.clear();
    for (std::uint32_t cta = 0; cta < shape_.ctas; ++cta) {
      for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
        warps_.push_back({.launch = launches_, .cta = cta, .index = warp});
        if (warp + 1 < shape_.warps) {  // few threads: the reference is slow
          event(warps_.back(), ~((1U << kLanes) - 1), {.operation = Operation::kExit});
        }
      }
    }
  }

  // In a stream of its own that waited for some of what came before, or in that of the last copy.
  void host_copy(std::uint32_t choice) {
    const std::size_t before = copies_.size();
    detector::CopyInfo copy{.call = detector::CallId{++copy_calls_}};
    const auto* last = std::get_if<detector::CopyInfo>(&program_.trace.steps.back());
    if (last != nullptr && choice % 2 == 0) {
      copy.id = last->id;
      copy.ordered_after = {copy.id};
    } else {
      copy.id = detector::CopyId{copy_calls_};
      for (std::uint32_t launch = 1; launch < launches_; ++launch) {
        if ((choice >> launch & 1) != 0) {
          copy.ordered_after.push_back(LaunchId{launch});
        }
      }
      if (before != 0 && choice / 32 % 2 == 0) {
        copy.ordered_after.push_back(copies_[choice / 64 % before]);
      }
      copies_.push_back(copy.id);
    }
    const bool is_of_flags = choice / 512 % 4 == 0;
    const detector::MemoryRows rows{
        .address = is_of_flags ? kSync : kData + choice / 2048 % 8,
        .row_bytes = std::array{1U, 4U, 8U}[choice / 2048 % 3],
        .pitch = 8 + choice / 8192 % 2 * 8,
        .rows = 1 + choice / 16384 % 3,
        .is_written = choice / 65536 % 3 != 0,
    };
    copy.accesses = {rows};
    state_.apply(copy);
    program_.trace.steps.emplace_back(copy);
    if (is_of_flags && rows.is_written) {
      std::erase_if(memory_, [](const auto& place) { return std::get<0>(place.first) == 0; });
    }
  }

  void finish_launch() {
    for (Warp& warp : warps_) {
      while (warp.stage != Stage::kIdle) {
        step(warp, 0);
      }
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (const Warp& warp : warps_) {
        const std::uint32_t lanes = state_.runnable(warp.launch, warp.cta, warp.index);
        if (lanes != 0) {
          event(warp, lanes, {.operation = Operation::kExit});
          moved = true;
        }
      }
    }
  }

  std::vector<QueuedRecord>& queue_of(const Warp& warp) {
    const std::uint32_t group = shape_.clusters ? warp.cta / 2 : warp.cta;
    return program_.queues[group % program_.queues.size()];
  }

  // Records are written when they are complete, but lie where they were claimed.
  std::size_t claim(const Warp& warp) {
    queue_of(warp).push_back({.bytes = {}, .claimed = ++time_});
    return queue_of(warp).size() - 1;
  }

  void write(const Warp& warp, std::size_t slot, const detector::WarpOperation& what,
             const Numbers& numbers) {
    queue_of(warp)[slot].bytes = bytes_of(what, numbers);
    ++program_.operations;
  }

  void happen(const detector::WarpOperation& what) {
    state_.apply(what);
    program_.trace.steps.emplace_back(what);
  }

  wire::SiteId add_site(const wire::SiteInfo& site) {
    program_.trace.sites.push_back(site);
    state_.add_sites(program_.trace.sites);
    return wire::SiteId{static_cast<std::uint32_t>(program_.trace.sites.size() - 1)};
  }

  detector::WarpOperation operation_of(const Warp& warp, std::uint32_t lanes) {
    detector::WarpOperation what;
    what.launch = LaunchId{warp.launch};
    what.cta = warp.cta;
    what.warp = static_cast<std::uint8_t>(warp.index);
    what.mask = lanes;
    return what;
  }

  void event(const Warp& warp, std::uint32_t lanes, const wire::SiteInfo& site,
             std::uint32_t operand = 0) {
    detector::WarpOperation what = operation_of(warp, lanes);
    what.kind = RecordKind::kEvent;
    what.site = add_site(site);
    what.event_operand = operand;
    write(warp, claim(warp), what, {});
    happen(what);
  }

  void step(Warp& warp, std::uint32_t choice) {
    if (warp.stage != Stage::kIdle) {
      go_on(warp);
      return;
    }
    const std::uint32_t runnable = state_.runnable(warp.launch, warp.cta, warp.index);
    const std::uint32_t lanes = choice % 3 == 0 ? runnable & -runnable : runnable;
    if (lanes == 0) {
      return;
    }
    const std::uint32_t how = choice / 3 / 16;
    switch (choice / 3 % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
        plain(warp, lanes, how);
        break;
      case 4:
      case 5:
      case 6:
        event(warp, lanes,
              {.operation = Operation::kFence,
               .order = MemoryOrder::kAcqRel,
               .scope = how % 4 == 0 ? Scope::kCta : Scope::kGpu});
        break;
      case 7:
      case 8:
        if (runnable == warp.alive) {  // lanes at different barriers would wait for ever
          event(warp, runnable,
                {.operation = how % 4 == 0 ? Operation::kWarpBarrier : Operation::kBarrier},
                how % 4 == 0 ? (1U << kLanes) - 1 : 0);
        }
        break;
      case 10:
        event(warp, lanes,
              {.operation = how % 2 == 0 ? Operation::kLaunchDependents : Operation::kGridWait});
        break;
      case 9:
        if (how % 8 == 0) {
          event(warp, lanes, {.operation = Operation::kExit});
          warp.alive &= ~lanes;
        }
        break;
      default:
        begin(warp, lanes, how);
    }
  }

  void plain(const Warp& warp, std::uint32_t lanes, std::uint32_t how) {
    wire::SiteInfo site{.operation = how % 2 == 0 ? Operation::kWrite : Operation::kRead};
    site.element_bytes = 4;
    site.element_count = 1;
    detector::WarpOperation what = operation_of(warp, lanes);
    what.kind = RecordKind::kScattered;
    what.site = add_site(site);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      what.lanes[lane].address =
          kData + std::uint64_t{(how / 2 + lane * (how / 8 % 2)) % kDataWords} * 4;
    }
    write(warp, claim(warp), what, {});
    happen(what);
  }

  // A strong access starts: a release claims its slots before everything else.
  void begin(Warp& warp, std::uint32_t lanes, std::uint32_t how) {
    wire::SiteInfo site{.operation = how % 4 == 0   ? Operation::kWrite
                                     : how % 4 == 1 ? Operation::kRead
                                                    : Operation::kAtomic,
                        .numbered = true};
    site.element_bytes = 4;
    site.element_count = 1;
    site.order = how / 4 % 3 == 0                      ? MemoryOrder::kRelaxed
                 : site.operation == Operation::kWrite ? MemoryOrder::kRelease
                 : site.operation == Operation::kRead  ? MemoryOrder::kAcquire
                                                       : MemoryOrder::kAcqRel;
    site.scope = how / 12 % 4 == 0 ? Scope::kCta : Scope::kGpu;
    detector::WarpOperation what = operation_of(warp, lanes);
    what.site = add_site(site);
    const bool shared = how / 48 % 4 == 0;
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      what.lanes[lane].address = wire::tagged_address(
          shared ? wire::AddressSpace::kShared : wire::AddressSpace::kGlobal,
          kSync + std::uint64_t{(how / 192 + lane * (how / 1024 % 2)) % kSyncWords} * 16);
    }
    warp.release = what;
    warp.release.kind = RecordKind::kRelease;
    warp.acquire = what;
    warp.acquire.kind = RecordKind::kAcquire;
    fails_ = how / 2048 % 2;
    warp.slot.reset();
    if (site.operation != Operation::kRead) {
      warp.slot = claim(warp);
    }
    warp.stage = Stage::kClaimed;
  }

  [[nodiscard]] const wire::SiteInfo& site_of(const Warp& warp) const {
    return program_.trace.sites[static_cast<std::size_t>(warp.release.site)];
  }

  // Calls visit(lane, number) with the counter's place for every lane in global memory.
  template <typename Visit>
  void for_each_counter(const detector::WarpOperation& what, Visit visit) {
    for (std::uint32_t rest = what.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (wire::space_of(what.lanes[lane].address) == wire::AddressSpace::kGlobal) {
        visit(lane, counters_[wire::order_counter_of(what.lanes[lane].address)]);
      }
    }
  }

  void go_on(Warp& warp) {
    switch (warp.stage) {
      case Stage::kIdle:
        break;
      case Stage::kClaimed:
        if (warp.slot) {
          for_each_counter(warp.release, [&](std::uint32_t lane, std::uint32_t& counter) {
            warp.numbers[lane] = counter++;
          });
        }
        warp.stage = Stage::kNumbered;
        break;
      case Stage::kNumbered:
        access(warp);
        warp.stage = Stage::kAccessed;
        break;
      case Stage::kAccessed:
        if (warp.slot) {
          write(warp, *warp.slot, warp.release, warp.numbers);
        }
        for_each_counter(warp.acquire, [&](std::uint32_t lane, std::uint32_t& counter) {
          warp.numbers[lane] = counter;
        });
        warp.stage = Stage::kStamped;
        break;
      case Stage::kStamped:
        if (site_of(warp).operation != Operation::kWrite) {
          const std::size_t slot = claim(warp);
          write(warp, slot, warp.acquire, warp.numbers);
        }
        warp.stage = Stage::kIdle;
        break;
    }
  }

  // Lanes one after another; every value is written once, so that a reader knows what it saw.
  void access(Warp& warp) {
    const Operation operation = site_of(warp).operation;
    for (std::uint32_t rest = warp.release.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      detector::LaneAccess& written = warp.release.lanes[lane];
      const bool shared = wire::space_of(written.address) == wire::AddressSpace::kShared;
      std::uint64_t& memory =
          memory_[{shared ? warp.launch : 0, shared ? warp.cta : 0, written.address}];
      warp.acquire.lanes[lane].value_read = memory;
      written.value_read = memory;
      if (operation == Operation::kAtomic && fails_ == 1 && lane % 2 == 0) {
        written.flags = wire::kLaneVoid;
        continue;
      }
      written.value_written = ++values_;
      written.flags = wire::kLaneHasWritten;
      if (operation == Operation::kAtomic) {
        written.flags |= wire::kLaneHasRead;
      }
      if (operation != Operation::kRead) {
        memory = written.value_written;
      }
    }
    if (operation != Operation::kRead) {
      happen(warp.release);
    }
    if (operation != Operation::kWrite) {
      happen(warp.acquire);
    }
  }

  const ProgramShape& shape_;
  ReferenceDetector state_;
  QueuedProgram program_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> counters_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint64_t> memory_;
  std::uint64_t values_ = 0;
  std::uint64_t time_ = 0;
  std::vector<WorkId> copies_;
  std::uint32_t copy_calls_ = 0;
  std::uint32_t launches_ = 0;
  std::uint32_t fails_ = 0;
};

}  // namespace

QueuedProgram run_program(const ProgramShape& shape) {
  return Device(shape).run();
}

}  // namespace barracuda::oracle
