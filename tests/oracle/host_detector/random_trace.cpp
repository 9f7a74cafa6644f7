#include "tests/oracle/host_detector/random_trace.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tests/oracle/host_detector/random_async.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

constexpr std::uint64_t kGlobalBase = 0x10000;
constexpr std::uint32_t kDataSlots = 3, kSyncSlots = 3;
constexpr std::uint32_t kSlot = 8;
constexpr std::uint64_t kSyncOffset = 256;
constexpr std::uint32_t kChoices = 55;
constexpr std::array kOrders{MemoryOrder::kVolatile, MemoryOrder::kRelaxed, MemoryOrder::kRelaxed,
                             MemoryOrder::kAcquire,  MemoryOrder::kRelease, MemoryOrder::kAcqRel};
constexpr std::array kScopes{Scope::kCta, Scope::kCluster, Scope::kGpu, Scope::kGpu, Scope::kSys};

class TraceMaker {
 public:
  explicit TraceMaker(const TraceShape& shape) : shape_(shape), state_({}) {}

  Trace make() {
    begin_launch(1);
    for (const Choice& choice : shape_.choices) {
      step(choice);
    }
    return trace_;
  }

 private:
  // After most of the launches that are over: which of them, `order` says.
  void begin_launch(std::uint32_t order) {
    detector::LaunchInfo info{.id = LaunchId{++launches_}};
    info.grid.x = shape_.ctas;
    info.block.x = shape_.warps == 1 ? shape_.lanes : 32 * (shape_.warps - 1) + shape_.lanes;
    info.cluster.x = shape_.clusters ? 2 : 1;
    info.ordered_after = put_after(launches_, order);
    if (order / 16 % 2 == 0) {
      make_programmatic(info);
    }
    state_.begin_launch(info);
    trace_.steps.emplace_back(info);
    alive_.push_back(launches_);
    settle();
    // All but a few threads of a whole warp leave at once: the reference is slow.
    for (std::uint32_t warp = 0; warp + 1 < shape_.warps; ++warp) {
      for (std::uint32_t cta = 0; cta < shape_.ctas; ++cta) {
        exit(launches_, cta, warp, ~((std::uint32_t{1} << shape_.lanes) - 1));
      }
    }
  }

  std::vector<WorkId> put_after(std::uint32_t id, std::uint32_t order) {
    last_copy_.reset();
    std::vector<WorkId> ordered_after;
    std::set<std::uint32_t>& before = before_[id];
    for (const std::uint32_t earlier : over_) {
      if (settled_.contains(earlier) || host_waited_.contains(earlier) ||
          (earlier * 5 + order) % 4 != 0) {
        ordered_after.push_back(work_of(earlier));
        before.insert(earlier);
        before.insert(before_[earlier].begin(), before_[earlier].end());
      }
    }
    return ordered_after;
  }

  // Its prerequisite is one of those before it that nothing else says are over.
  void make_programmatic(detector::LaunchInfo& info) {
    const auto is_alone = [&](WorkId launch) {
      const std::uint32_t id = number_of(launch);
      return !launch.is_copy() && !settled_.contains(id) && !host_waited_.contains(id) &&
             std::ranges::none_of(info.ordered_after, [&](WorkId other) {
               return before_[number_of(other)].contains(id);
             });
    };
    const auto found = std::ranges::find_if(info.ordered_after, is_alone);
    if (found == info.ordered_after.end()) {
      return;
    }
    const std::uint32_t prerequisite = number_of(*found);
    info.prerequisite = found->launch();
    info.prerequisite_over = detector::CopyId{++copies_};
    const std::uint32_t id = number_of(info.prerequisite_over);
    over_.push_back(id);
    before_[id] = before_[launches_];
    if (state_.lets_dependents_begin(prerequisite)) {
      before_[launches_].erase(prerequisite);
    }
  }

  // The host waits for something that is over, and so for all that this came after.
  void host_waits(const Choice& choice) {
    if (over_.empty()) {
      return;
    }
    const std::uint32_t awaited = over_[choice.where % over_.size()];
    host_waited_.insert(awaited);
    host_waited_.insert(before_[awaited].begin(), before_[awaited].end());
    last_copy_.reset();
  }

  // Of a stream of its own, or in the stream of the copy just before it.
  void host_copy(const Choice& choice) {
    detector::CopyInfo copy{.call = detector::CallId{++copies_}};
    if (last_copy_ && choice.who % 2 == 0) {
      copy.id = *last_copy_;
      copy.ordered_after = {copy.id};
    } else {
      copy.id = detector::CopyId{copies_};
      copy.ordered_after = put_after(number_of(copy.id), choice.who / 2);
      over_.push_back(number_of(copy.id));
      last_copy_ = copy.id;
    }
    for (const std::uint32_t waited : host_waited_) {
      copy.host_waited.push_back(work_of(waited));
    }
    const bool is_memset = choice.how % 3 == 0;
    const detector::MemoryRows to = rows_of(choice.where, choice.how, true);
    detector::MemoryRows from = rows_of(choice.lanes >> 8, choice.how, false);
    if (choice.how % 3 != 1) {  // else to memory of the host that nobody looks after
      copy.accesses.push_back(to);
    }
    if (!is_memset) {
      from.row_bytes = to.row_bytes;
      from.rows = to.rows;
      from.pitch = std::max(from.pitch, from.row_bytes);
      copy.accesses.push_back(from);
    }
    if (choice.lanes % 3 == 0) {
      own(copy, choice);
    }
    state_.apply(copy);
    trace_.steps.emplace_back(copy);
    for (const detector::MemoryRows& rows : copy.accesses) {
      std::erase_if(memory_, [&](const auto& place) {  // zeros
        return !place.first.first && rows.is_written && touches(rows, place.first.second);
      });
    }
  }

  // It frees or allocates in place of copying.
  static void own(detector::CopyInfo& copy, const Choice& choice) {
    copy.operation = choice.lanes / 3 % 3 == 0 ? detector::HostOperation::kAllocation
                                               : detector::HostOperation::kFree;
    detector::MemoryRows range = rows_of(choice.where, choice.how, true);
    range.rows = 1;
    range.row_bytes = std::array{4, 16, 128, 1024}[choice.how / 3 % 4];
    copy.accesses = {range};
  }

  // One row or some, over data, flags, or both; sometimes so many, behind them, that an engine
  // that keeps what it can forget would have to look what it can forget.
  static detector::MemoryRows rows_of(std::uint32_t where, std::uint32_t how, bool is_written) {
    detector::MemoryRows rows{.is_written = is_written};
    rows.address = kGlobalBase + (where % 4 == 3 ? 256 : 0) + where / 4 % 24;
    rows.row_bytes = std::array{1, 4, 8, 16, 300}[how / 3 % 5];
    if (how / 16 % 3 == 0) {
      rows.rows = 2 + where / 64;
      rows.pitch = rows.row_bytes + how / 64 * 3;
    }
    if (how / 16 % 8 == 7) {
      rows.rows = 70;
      rows.row_bytes = 1;
      rows.pitch = 2 + how % 2;
    }
    return rows;
  }

  static bool touches(const detector::MemoryRows& rows, std::uint64_t tagged) {
    const std::uint64_t address = wire::address_of(tagged);
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      const std::uint64_t begin = rows.address + row * rows.pitch;
      if (begin < address + kSlot && address < begin + rows.row_bytes) {
        return true;
      }
    }
    return false;
  }

  // The engine forgets what synchronised in launches that were over before every running one began:
  // its memory has bounds, and no rule says which launches may still come. A launch that comes then
  // and is not ordered after them would be an exemption, so there is none here.
  void settle() {
    for (const std::uint32_t earlier : over_) {
      if (!work_of(earlier).is_copy() && std::ranges::all_of(alive_, [&](std::uint32_t running) {
            return before_[running].contains(earlier);
          })) {
        settled_.insert(earlier);
      }
    }
  }

  void exit(std::uint32_t launch, std::uint32_t cta, std::uint32_t warp, std::uint32_t lanes) {
    detector::WarpOperation operation;
    operation.kind = RecordKind::kEvent;
    operation.launch = LaunchId{launch};
    operation.cta = cta;
    operation.warp = static_cast<std::uint8_t>(warp);
    operation.mask = lanes;
    emit(operation, {.operation = Operation::kExit});
  }

  void emit(detector::WarpOperation operation, const wire::SiteInfo& site) {
    operation.site = wire::SiteId{static_cast<std::uint32_t>(trace_.sites.size())};
    trace_.sites.push_back(site);
    state_.add_sites(trace_.sites);
    state_.apply(operation);
    trace_.steps.emplace_back(operation);
  }

  // Some launches end and the next begins, beside those that go on. Not after a reduction whose
  // value nobody knows: the engine takes any value for that one as long as it remembers it, and it
  // may remember it for a launch that is ordered after the reduction (docs/LIMITATIONS.md).
  void next_launch(const Choice& choice) {
    if (launches_ >= shape_.launches) {
      return;
    }
    for (const std::uint32_t launch : std::vector<std::uint32_t>(alive_)) {
      if ((choice.who >> launch & 1) != 0 || choice.how % 2 == 0) {
        end_launch(launch);
      }
    }
    if (!alive_.empty() || has_reduced_) {
      settle();
    }
    if (alive_.empty() || !has_reduced_) {
      begin_launch(choice.where);
    }
  }

  void end_launch(std::uint32_t launch) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t cta = 0; cta < shape_.ctas; ++cta) {
        for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
          const std::uint32_t lanes = state_.runnable(launch, cta, warp);
          if (lanes != 0) {
            exit(launch, cta, warp, lanes);
            moved = true;
          }
        }
      }
    }
    if (state_.is_over(launch)) {  // else its threads wait for each other
      std::erase(alive_, launch);
      over_.push_back(launch);
    }
  }

  void step(const Choice& choice) {
    switch (choice.what % kChoices) {
      case 31:
        next_launch(choice);
        return;
      case 48:
      case 49:
        host_copy(choice);
        return;
      case 50:
        host_waits(choice);
        return;
      default:
        break;
    }
    if (alive_.empty()) {
      return;
    }
    detector::WarpOperation operation;
    operation.launch = LaunchId{alive_[choice.who / 32 % alive_.size()]};
    operation.cta = choice.who % shape_.ctas;
    operation.warp = static_cast<std::uint8_t>(choice.who / 4 % shape_.warps);
    const std::uint32_t runnable = state_.runnable(static_cast<std::uint32_t>(operation.launch),
                                                   operation.cta, operation.warp);
    if (runnable == 0) {
      return;
    }
    // Few lanes, often one, often all that can.
    operation.mask = choice.lanes % 4 == 0   ? runnable
                     : choice.lanes % 4 == 1 ? std::uint32_t{1} << std::countr_zero(runnable)
                                             : runnable & (choice.lanes >> 2);
    if (operation.mask == 0) {
      operation.mask = std::uint32_t{1} << (31 - std::countl_zero(runnable));
    }
    act(choice, operation);
  }

  void act(const Choice& choice, detector::WarpOperation& operation) {
    constexpr std::uint32_t kFirstCopy = 32, kFirstGridControl = 51;
    std::uint32_t what = choice.what % kChoices;
    if (what >= kFirstCopy && what < kFirstGridControl && !shape_.copies) {
      what = 20 + what % 10;  // strong accesses and barriers
    }
    if (what < 10) {
      plain(choice, operation);
    } else if (what < 16) {
      fence(choice, operation);
    } else if (what < 26) {
      synchronise(choice, operation);
    } else if (what < 28) {
      barrier(choice, operation);
    } else if (what < 30) {
      operation.kind = RecordKind::kEvent;
      operation.event_operand =
          choice.how % 2 == 0 ? 0xFFFFFFFF : operation.mask | (choice.lanes >> 2 & 0xF);
      emit(operation, {.operation = Operation::kWarpBarrier});
    } else if (what >= kFirstGridControl) {
      operation.kind = RecordKind::kEvent;
      emit(operation, {.operation = what < kFirstGridControl + 2 ? Operation::kLaunchDependents
                                                                 : Operation::kGridWait});
    } else if (what >= kFirstCopy) {
      for (const AsyncRecord& record : async_records(choice, operation, shape_, state_)) {
        emit(record.operation, record.site);
      }
    } else if (choice.how % 4 == 0) {
      operation.kind = RecordKind::kEvent;
      emit(operation, {.operation = Operation::kExit});
    } else if (choice.how % 4 == 1) {
      heap(choice, operation);
    }
  }

  // A free, or a malloc that gives the first lane some slots of the data.
  void heap(const Choice& choice, detector::WarpOperation& operation) {
    operation.kind = RecordKind::kRelease;
    operation.mask &= ~operation.mask + 1;
    detector::LaneAccess& lane =
        operation.lanes[static_cast<std::size_t>(std::countr_zero(operation.mask))];
    lane.address = wire::kHeapOrder;
    lane.value_read = kGlobalBase + choice.where / 4 % kDataSlots * kSlot;
    lane.value_written = choice.where % 4 * kSlot / 2;
    emit(operation, {.operation = Operation::kHeap});
  }

  void fence(const Choice& choice, detector::WarpOperation& operation) {
    operation.kind = RecordKind::kEvent;
    constexpr std::array kFences{MemoryOrder::kAcqRel, MemoryOrder::kSeqCst, MemoryOrder::kAcquire,
                                 MemoryOrder::kRelease};
    emit(operation, {.operation = Operation::kFence,
                     .order = kFences[choice.how % 4],
                     .scope = kScopes[choice.where % kScopes.size()]});
  }

  void barrier(const Choice& choice, detector::WarpOperation& operation) {
    operation.kind = RecordKind::kEvent;
    operation.event_operand = choice.how % 8 == 7 ? 1 : 0;
    const bool is_counted = operation.event_operand == 1;
    operation.event_count = is_counted ? 32 * (1 + choice.where % shape_.warps) : 0;
    const bool waits = !is_counted || choice.where % 2 == 0;
    emit(operation, {.operation = waits ? Operation::kBarrier : Operation::kBarrierArrive});
  }

  [[nodiscard]] static std::uint64_t tagged(bool shared, std::uint64_t offset) {
    return shared ? wire::tagged_address(wire::AddressSpace::kShared, offset)
                  : wire::tagged_address(wire::AddressSpace::kGlobal, kGlobalBase + offset);
  }

  void plain(const Choice& choice, detector::WarpOperation& operation) {
    const std::uint32_t kind = choice.how % 16;
    wire::SiteInfo site{.operation = kind < 8 ? Operation::kWrite : Operation::kRead};
    site.element_bytes = static_cast<std::uint8_t>(std::array{1, 4, 4, 8}[choice.how / 16 % 4]);
    site.element_count = choice.where % 16 == 0 && site.element_bytes == 4 ? 2 : 1;
    if (kind == 7) {
      site.stores_constant = true;
      site.constant = choice.where / 64;
    }
    const bool is_known = kind == 6 || (shape_.known_values && kind < 7);
    const bool is_of_sync = kind == 13;  // a byte of what others synchronise through, or did
    if (is_of_sync) {
      site.element_bytes = site.element_count = 1;
    }
    const bool shared = choice.where % 4 == 3;
    if (kind == 15 && !shared) {
      site.proxy = wire::Proxy::kReadOnly;
    }
    if ((kind == 5 || kind == 12) && !shared) {
      site.proxy = wire::Proxy::kSurface;
    }
    if (kind == 14) {  // a strong access of a kernel that numbers none
      site.operation = choice.where % 2 == 0 ? Operation::kReduction : Operation::kRead;
      site.order = choice.where % 3 == 0 ? MemoryOrder::kVolatile : MemoryOrder::kRelaxed;
      site.scope = choice.where % 8 < 4 ? Scope::kGpu : Scope::kCta;
    }
    site.speculated = site.operation == Operation::kRead && site.order == MemoryOrder::kWeak &&
                      choice.where / 16 % 4 == 1;
    operation.kind = choice.lanes % 2 == 0 ? RecordKind::kAffine : RecordKind::kScattered;
    const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
    const std::uint64_t start = (is_of_sync ? kSyncOffset : 0) +
                                choice.where / 4 % kDataSlots * kSlot +
                                (width < kSlot ? choice.lanes / 8 % (kSlot / width) * width : 0);
    const std::uint32_t stride = choice.how / 64 == 0 ? 0 : choice.how / 64 == 1 ? kSlot : width;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      operation.lanes[lane].address = tagged(shared, start + std::uint64_t{lane % 4} * stride);
    }
    if (shared && choice.lanes / 64 % 2 == 0) {
      put_elsewhere_in_cluster(operation, shape_, state_);
    }
    const bool overlaps = stride < width;
    if (site.operation == Operation::kWrite && overlaps && choice.where % 3 == 0) {
      operation.lanes_agree = true;
    }
    if (is_known) {
      operation.has_uniform_value = true;
      operation.uniform_value = choice.where / 64;
      operation.lanes_agree = overlaps;
    }
    emit(operation, site);
  }

  // A strong access or flag idiom on one of the synchronising locations: release record, acquire
  // record, or both.
  void synchronise(const Choice& choice, detector::WarpOperation& operation) {
    const std::uint32_t kind = choice.how % 8;
    wire::SiteInfo site{.numbered = true};
    site.operation = kind < 2   ? Operation::kWrite
                     : kind < 4 ? Operation::kRead
                     : kind < 7 ? Operation::kAtomic
                                : Operation::kReduction;
    site.order = kOrders[choice.how / 8 % kOrders.size()];
    if (site.operation == Operation::kRead &&
        (site.order == MemoryOrder::kRelease || site.order == MemoryOrder::kAcqRel)) {
      site.order = MemoryOrder::kAcquire;
    }
    if (site.operation == Operation::kWrite &&
        (site.order == MemoryOrder::kAcquire || site.order == MemoryOrder::kAcqRel)) {
      site.order = MemoryOrder::kRelease;
    }
    if (site.order == MemoryOrder::kVolatile && site.operation != Operation::kRead &&
        site.operation != Operation::kWrite) {
      site.order = MemoryOrder::kRelaxed;
    }
    site.scope = site.order == MemoryOrder::kVolatile ? Scope::kSys
                                                      : kScopes[choice.where / 16 % kScopes.size()];
    site.element_bytes = choice.where % 8 == 7 ? 8 : 4;
    site.element_count = 1;
    site.waits_for_change = site.operation == Operation::kRead && choice.lanes % 4 == 1;
    site.constant = site.waits_for_change ? 1 + choice.lanes / 4 % 3 : 0;
    if (choice.lanes % 3 == 0) {  // the idioms of RACE_RULES section 2
      site.idiom_scope = kScopes[choice.lanes / 64 % kScopes.size()];
      site.flag_store = site.operation == Operation::kWrite;
      site.poll = site.operation == Operation::kRead || site.operation == Operation::kAtomic;
      if ((site.operation == Operation::kRead || site.operation == Operation::kWrite) &&
          choice.lanes / 4 % 2 == 0) {
        site.order = MemoryOrder::kWeak;
      }
    }
    const bool shared = choice.where % 4 == 2;
    const std::uint64_t offset = kSyncOffset + choice.where / 4 % kSyncSlots * kSlot;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      operation.lanes[lane].address = tagged(shared, offset);
    }
    if (!shared && site.order == MemoryOrder::kRelease && !site.flag_store &&
        site.operation != Operation::kAtomic && choice.lanes / 32 % 2 == 0) {
      site.asynchrony = wire::Asynchrony::kUnwaited;  // st.async, red.async
    }
    has_reduced_ |= !shared && is_unknown(choice, site);
    run_lanes(choice, operation, site, shared);
  }

  // A reduction of numbers of which it is not logged what it leaves behind (hook_text.cpp).
  static bool is_unknown(const Choice& choice, const wire::SiteInfo& site) {
    return site.operation == Operation::kReduction && choice.how / 64 == 2;
  }

  // Lanes one after another, as the hardware does atomics.
  void run_lanes(const Choice& choice, detector::WarpOperation& operation,
                 const wire::SiteInfo& site, bool shared) {
    detector::WarpOperation release = operation;
    detector::WarpOperation acquire = operation;
    release.kind = RecordKind::kRelease;
    acquire.kind = RecordKind::kAcquire;
    const bool is_atomic = site.operation == Operation::kAtomic;
    const bool reads = is_atomic || site.operation == Operation::kReduction;
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      std::uint64_t& memory = memory_[{
          shared ? std::optional(std::pair{operation.launch, operation.cta}) : std::nullopt,
          operation.lanes[lane].address}];
      acquire.lanes[lane].value_read = memory;
      detector::LaneAccess& written = release.lanes[lane];
      written.value_read = memory;
      written.value_written = reads && choice.how / 64 == 1 ? memory + 1 : choice.lanes / 16 % 3;
      written.flags =
          static_cast<std::uint16_t>((reads ? wire::kLaneHasRead : 0) | wire::kLaneHasWritten);
      if (is_unknown(choice, site)) {
        written.flags = 0;
      }
      const bool compares = is_atomic && choice.how / 64 == 3;
      if (compares) {
        written.flags |= wire::kLaneCompares;
        written.value_written = memory ^ std::uint64_t{choice.lanes / 16 % 3}
                                             << 8 * (choice.lanes / 64 % site.element_bytes);
      }
      if (compares && lane % 2 == 0) {
        written.flags = wire::kLaneVoid;
      } else if (site.operation != Operation::kRead) {
        memory = written.value_written;
      }
    }
    if (site.operation != Operation::kRead) {
      emit(release, site);
    }
    if (site.operation == Operation::kRead || is_atomic) {
      emit(acquire, site);
    }
  }

  const TraceShape& shape_;
  ReferenceDetector state_;
  Trace trace_;
  std::uint32_t launches_ = 0;
  std::vector<std::uint32_t> alive_, over_;  // launches
  std::set<std::uint32_t> settled_;          // every later launch is ordered after them
  std::set<std::uint32_t> host_waited_;      // and after these: the host has waited
  bool has_reduced_ = false;
  std::uint32_t copies_ = 0;
  std::optional<detector::CopyId> last_copy_;  // if nothing came between
  std::map<std::uint32_t, std::set<std::uint32_t>> before_;
  std::map<std::pair<std::optional<std::pair<LaunchId, std::uint32_t>>, std::uint64_t>,
           std::uint64_t>
      memory_;
};

}  // namespace

Trace make_trace(const TraceShape& shape) {
  return TraceMaker(shape).make();
}

}  // namespace barracuda::oracle
