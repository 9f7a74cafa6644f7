#include "tests/oracle/host_detector/reference_detector.h"

#include <algorithm>

namespace barracuda::oracle {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::Scope;

std::size_t number(Scope scope) {
  return static_cast<std::size_t>(scope);
}

bool releases(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}

bool acquires(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}

bool is_strong(const wire::SiteInfo& site) {
  return site.order != MemoryOrder::kWeak;
}

bool has_value(const wire::SiteInfo& site) {
  return site.element_count == 1 && site.element_bytes <= 8;
}

}  // namespace

std::uint32_t ReferenceDetector::cluster_of(const Thread& thread) const {
  const auto& info = launches_.at(std::get<0>(thread)).info;
  return std::get<1>(thread) / static_cast<std::uint32_t>(info.cluster.volume());  // one dimension
}

Scope ReferenceDetector::distance(const Thread& a, const Thread& b) const {
  if (std::get<0>(a) != std::get<0>(b)) {
    return Scope::kGpu;
  }
  if (std::get<1>(a) == std::get<1>(b)) {
    return Scope::kCta;
  }
  return cluster_of(a) == cluster_of(b) ? Scope::kCluster : Scope::kGpu;
}

Space ReferenceDetector::space_of(std::uint64_t tagged, const Thread& thread) const {
  if (wire::space_of(tagged) == wire::AddressSpace::kGlobal) {
    return std::nullopt;
  }
  if (wire::space_of(tagged) == wire::AddressSpace::kSharedCluster) {
    const auto rank = static_cast<std::uint32_t>(wire::address_of(tagged) >> 32);
    const auto& info = launches_.at(std::get<0>(thread)).info;
    return std::pair{std::get<0>(thread),
                     cluster_of(thread) * static_cast<std::uint32_t>(info.cluster.volume()) + rank};
  }
  return std::pair{std::get<0>(thread), std::get<1>(thread)};
}

bool ReferenceDetector::is_before(const Thread& thread, std::uint64_t time,
                                  const Thread& later) const {
  return thread == later || is_known(thread, time, later);
}

void ReferenceDetector::fence(const wire::SiteInfo& site, ThreadState& state) const {
  for (std::size_t scope = 0; scope <= number(site.scope); ++scope) {
    if (acquires(site.order)) {
      join(state.clock, state.pending[scope]);
    }
  }
  for (std::size_t scope = 0; scope <= number(site.scope); ++scope) {
    if (releases(site.order)) {
      state.released[scope] = state.clock;
    }
  }
}

void ReferenceDetector::publish(const wire::SiteInfo& site, const detector::LaneAccess& lane,
                                const Thread& thread) {
  const ThreadState& state = threads_.at(thread);
  Write write{.instruction = instruction_, .thread = thread};
  write.is_atomic = site.operation != Operation::kWrite;
  if (has_value(site) && (lane.flags & wire::kLaneHasRead) != 0) {
    write.read = lane.value_read;
  }
  if (has_value(site) && (lane.flags & wire::kLaneHasWritten) != 0) {
    write.written = lane.value_written;
  }
  VectorClock all = state.clock;
  if (site.asynchrony == wire::Asynchrony::kUnwaited) {
    all[completion_of(thread, site.asynchrony, false)] = all.at(thread);
  }
  for (std::size_t scope = 0; scope < kScopes; ++scope) {
    if (is_strong(site) && scope <= number(site.scope)) {
      write.published[0][scope] = releases(site.order) ? all : state.released[scope];
    }
    if (site.flag_store && scope <= number(site.idiom_scope)) {
      write.published[1][scope] = state.released[scope];
    }
  }
  const std::uint64_t size = site.element_bytes * site.element_count;
  locations_[{space_of(lane.address, thread), address_of(lane.address), size}].writes.push_back(
      write);
}

// The values that lead to `from` by atomics, or those it leads to.
std::set<std::uint64_t> ReferenceDetector::values(const Location& location, std::uint64_t from,
                                                  bool backwards) {
  std::set<std::uint64_t> found{from};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Write& write : location.writes) {
      if (write.is_atomic && write.read && write.written) {
        const std::uint64_t near = backwards ? *write.written : *write.read;
        const std::uint64_t far = backwards ? *write.read : *write.written;
        grew = (found.contains(near) && found.insert(far).second) || grew;
      }
    }
  }
  return found;
}

std::uint64_t ReferenceDetector::first_with_same(const Location& location, std::uint64_t bits,
                                                 std::uint64_t value) {
  if (is_anything_possible(location) || !std::ranges::all_of(location.writes, &Write::is_atomic)) {
    return value;
  }
  for (std::set<std::uint64_t> passed; passed.insert(value).second;) {
    std::set<std::uint64_t> before;
    for (const Write& write : location.writes) {
      if (write.written == value && write.read != value) {
        before.insert(*write.read);
      }
    }
    if (before.size() != 1 || ((*before.begin() ^ value) & bits) != 0) {
      break;
    }
    value = *before.begin();
  }
  return value;
}

bool ReferenceDetector::is_anything_possible(const Location& location) {
  return std::ranges::any_of(location.writes, [](const Write& write) {
    return write.is_atomic && (!write.read || !write.written);
  });
}

ReferenceDetector::Location ReferenceDetector::since(const Location& location,
                                                     const Thread& thread) const {
  const std::set<std::uint32_t>& before = launches_.at(std::get<0>(thread)).before;
  Location seen = location;
  std::erase_if(seen.writes,
                [&](const Write& write) { return before.contains(std::get<0>(write.thread)); });
  std::erase_if(seen.observations,
                [&](const Observation& each) { return before.contains(std::get<0>(each.thread)); });
  return seen;
}

void ReferenceDetector::acquire(const wire::SiteInfo& site, const detector::LaneAccess& lane,
                                const Thread& thread) {
  ThreadState& state = threads_.at(thread);
  const std::uint64_t size = site.element_bytes * site.element_count;
  Location& location = locations_[{space_of(lane.address, thread), address_of(lane.address), size}];
  const bool at_once = acquires(site.order) || options_.acquire_relaxed_spin;
  const std::uint64_t seen = site.waits_for_change
                                 ? first_with_same(location, site.constant, lane.value_read)
                                 : lane.value_read;
  for (const Write& write : location.writes) {
    const Location after = since(location, write.thread);
    const bool takes_all = !has_value(site) || is_anything_possible(after);
    if (!takes_all && write.written && !values(after, seen, true).contains(*write.written)) {
      continue;
    }
    const Scope apart = distance(write.thread, thread);
    for (std::size_t scope = number(apart); scope < kScopes; ++scope) {
      if (is_strong(site) && scope <= number(site.scope)) {
        join(at_once ? state.clock : state.pending[scope], write.published[0][scope]);
      }
      if (site.poll && scope <= number(site.idiom_scope)) {
        join(state.pending[scope], write.published[1][scope]);
      }
    }
  }
  // A value that no write here can have left was there before, or came by an access of another
  // size.
  const Location here = since(location, thread);
  if (has_value(site) && !is_anything_possible(here) &&
      std::ranges::none_of(here.writes, [&](const Write& write) {
        return write.written == lane.value_read ||
               (write.is_atomic && write.read == lane.value_read);
      })) {
    return;
  }
  location.observations.push_back(
      {.instruction = instruction_,
       .thread = thread,
       .time = state.clock.at(thread),
       .value = has_value(site) ? std::optional(lane.value_read) : std::nullopt,
       .is_poll = site.poll});
}

// A strong write is ordered before what an observer of it precedes, for its location.
bool ReferenceDetector::was_observed(const Access& write, const Thread& later) const {
  if (!write.writes || write.completion || write.is_of_mbarrier ||
      (!is_strong(*write.site) && !write.site->flag_store)) {
    return false;
  }
  const auto place =
      locations_.find({write.space, write.address / write.location_size * write.location_size,
                       write.location_size});
  if (place == locations_.end()) {
    return false;
  }
  const Location location = since(place->second, write.thread);
  const bool any = !write.published_value || is_anything_possible(location);
  const auto leads_to =
      any ? std::set<std::uint64_t>{} : values(location, *write.published_value, false);
  return std::ranges::any_of(location.observations, [&](const Observation& observation) {
    return (observation.instruction > write.instruction || !write.is_published) &&
           (is_strong(*write.site) || observation.is_poll) &&
           (any || !observation.value || leads_to.contains(*observation.value)) &&
           is_before(observation.thread, observation.time, later);
  });
}

std::optional<Severity> ReferenceDetector::verdict(const Access& older, const Access& newer) const {
  const wire::SiteInfo& a = *older.site;
  const wire::SiteInfo& b = *newer.site;
  const Scope apart = distance(older.thread, newer.thread);
  if (older.is_of_mbarrier && newer.is_of_mbarrier) {
    return std::nullopt;
  }
  if (a.speculated || b.speculated) {
    return Severity::kWarning;
  }
  if (a.proxy == wire::Proxy::kReadOnly || b.proxy == wire::Proxy::kReadOnly ||
      is_between_surfaces(older, newer)) {
    return Severity::kError;
  }
  const bool narrow_flags = std::min(a.idiom_scope, b.idiom_scope) < apart;
  if (!narrow_flags && older.width == newer.width &&
      ((older.writes && a.flag_store && b.poll) || (newer.writes && b.flag_store && a.poll))) {
    return std::nullopt;
  }
  const bool stores = a.operation == Operation::kWrite && b.operation == Operation::kWrite;
  if (stores && older.instruction == newer.instruction && older.agrees && newer.agrees) {
    return options_.report_same_value ? std::optional(Severity::kWarning) : std::nullopt;
  }
  if (is_async_proxy(older) == is_async_proxy(newer) && is_strong(a) && is_strong(b) &&
      std::min(a.scope, b.scope) >= apart) {
    if (older.width != newer.width) {
      return Severity::kError;
    }
    const bool volatile_store =
        (a.order == MemoryOrder::kVolatile && a.operation == Operation::kWrite) ||
        (b.order == MemoryOrder::kVolatile && b.operation == Operation::kWrite);
    return volatile_store ? std::optional(Severity::kWarning) : std::nullopt;
  }
  if (stores && has_same_value(older, newer)) {
    return Severity::kWarning;
  }
  return Severity::kError;
}

void ReferenceDetector::check(const Access& older, const Access& newer) {
  const std::uint64_t first = std::max(older.address, newer.address);
  const std::uint64_t end = std::min(older.address + older.size, newer.address + newer.size);
  if (older.space != newer.space || first >= end || (!older.writes && !newer.writes) ||
      is_read_again(older)) {
    return;
  }
  const bool read_only =
      older.site->proxy == wire::Proxy::kReadOnly || newer.site->proxy == wire::Proxy::kReadOnly;
  const bool same_launch = std::get<0>(older.thread) == std::get<0>(newer.thread);
  const bool in_program_order = older.thread == newer.thread && !older.completion;
  const bool by_rule = older.completion
                           ? is_known(*older.completion, older.completion_time, newer.thread) ||
                                 is_map_read_known(older, newer.thread)
                           : is_before(older.thread, older.time, newer.thread);
  const bool defies = (read_only && same_launch) || is_between_surfaces(older, newer);
  const bool is_ordered =
      in_program_order || (!defies && (by_rule || was_observed(older, newer.thread)));
  if (is_ordered && !lacks_proxy_fence(older, newer)) {
    return;
  }
  const std::optional<Severity> worth = verdict(older, newer);
  if (!worth) {
    return;
  }
  for (std::uint64_t byte = first; byte < end; ++byte) {
    if (!older.holds(byte)) {
      continue;
    }
    races_.push_back(
        {.low_site = std::min(older.site_id, newer.site_id),
         .high_site = std::max(older.site_id, newer.site_id),
         .older = older.thread,
         .newer = newer.thread,
         .older_rows = older.rows,
         .newer_rows = newer.rows,
         .space = older.space,
         .byte = byte,
         .severity = *worth,
         .may_be_missed = !options_.keeps_everything && is_covered(older, newer, byte)});
  }
}

void ReferenceDetector::access(const detector::WarpOperation& operation, const Thread& thread,
                               bool reads, bool writes) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
  Access access{.instruction = instruction_,
                .site = &site,
                .site_id = static_cast<std::uint32_t>(operation.site),
                .thread = thread,
                .time = threads_.at(thread).clock.at(thread),
                .clock = threads_.at(thread).clock,
                .space = space_of(lane.address, thread),
                .size = site.element_bytes,
                .width = site.element_bytes,
                .reads = reads,
                .writes = writes,
                .agrees = site.asynchrony == wire::Asynchrony::kNone &&
                          (operation.lanes_agree || (lane.flags & wire::kLaneAgrees) != 0),
                .elements = site.element_count,
                .location_size = std::size_t{site.element_bytes} * site.element_count};
  if (site.operation == Operation::kWrite && site.stores_constant) {
    access.known_value = site.constant;
  } else if (operation.has_uniform_value && site.operation == Operation::kWrite) {
    access.known_value = operation.uniform_value;
  }
  access.is_published = operation.kind == wire::RecordKind::kRelease;
  if (access.is_published && (lane.flags & wire::kLaneHasWritten) != 0) {
    access.published_value = lane.value_written;
  }
  if (site.asynchrony != wire::Asynchrony::kNone) {
    access.completion = completion_of(thread, site.asynchrony, reads);
    access.completion_time =
        site.asynchrony == wire::Asynchrony::kUnwaited ? access.time : groups_[thread][0].now;
    access.known_value.reset();
  }
  for (std::uint32_t element = 0; element < site.element_count; ++element) {
    access.address = address_of(lane.address) + std::uint64_t{element} * site.element_bytes;
    make(access, lane);
  }
}

// A compare-and-swap that wrote reads all its bytes and writes those that it changes.
void ReferenceDetector::make(const Access& access, const detector::LaneAccess& lane) {
  const std::size_t first = accesses_.size();
  const bool compares =
      access.is_published && access.writes && (lane.flags & wire::kLaneCompares) != 0 &&
      (lane.flags & wire::kLaneHasRead) != 0 && (lane.flags & wire::kLaneHasWritten) != 0;
  if (compares) {
    Access piece = access;
    piece.size = 1;
    for (std::uint32_t byte = 0; byte < access.size; ++byte) {
      piece.address = access.address + byte;
      piece.writes = ((lane.value_read ^ lane.value_written) >> (8 * byte) & 0xFF) != 0;
      accesses_.push_back(piece);
    }
  } else {
    accesses_.push_back(access);
  }
  for (std::size_t newer = first; newer < accesses_.size(); ++newer) {
    for (std::size_t older = 0; older < first; ++older) {
      check(accesses_[older], accesses_[newer]);
    }
  }
}

void ReferenceDetector::event(const detector::WarpOperation& operation,
                              const std::vector<Thread>& threads) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  if (site.operation == Operation::kFence) {
    for (const Thread& thread : threads) {
      fence(site, threads_.at(thread));
    }
  } else if (site.operation == Operation::kBarrier || site.operation == Operation::kBarrierArrive) {
    arrive(operation, threads, site.operation == Operation::kBarrier);
  } else if (site.operation == Operation::kWarpBarrier) {
    for (const Thread& thread : threads) {
      threads_.at(thread).warp_barrier = operation.event_operand;
    }
    const auto& [launch, cta, warp, lane] = threads.front();
    open_warp_barriers(launch, cta, warp);
  } else if (site.operation == Operation::kExit) {
    exit(operation, threads);
  } else {
    async_event(operation, threads);
  }
}

void ReferenceDetector::apply(const detector::WarpOperation& operation) {
  ++instruction_;
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  std::vector<Thread> threads;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((operation.mask >> lane & 1) != 0) {
      threads.emplace_back(static_cast<std::uint32_t>(operation.launch), operation.cta,
                           operation.warp, lane);
    }
  }
  for (const Thread& thread : threads) {
    ++threads_.at(thread).clock[thread];
  }
  if (operation.kind == wire::RecordKind::kEvent) {
    event(operation, threads);
    return;
  }
  if (operation.kind == wire::RecordKind::kOperands) {
    operands(operation, threads);
    return;
  }
  if (site.proxy == wire::Proxy::kTensorMap) {
    for (const Thread& thread : threads) {
      maps_[thread] = {operation.site, operation.lanes[std::get<3>(thread)].address};
    }
    return;
  }
  if (operation.kind == wire::RecordKind::kTensorCopy) {
    read_map(operation, threads.front());
    return;
  }
  if (site.operation == Operation::kHeap) {
    for_each_allocation(
        operation, [this](std::uint64_t address, std::uint64_t bytes) { renew(address, bytes); });
    return;
  }
  const bool is_atomic =
      site.operation == Operation::kAtomic || site.operation == Operation::kReduction;
  for (const Thread& thread : threads) {
    const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
    if (operation.kind == wire::RecordKind::kRelease) {
      if ((lane.flags & wire::kLaneVoid) == 0) {
        access(operation, thread, is_atomic, true);
        atomic_wrote_[thread] = site.operation == Operation::kAtomic;
      }
    } else if (operation.kind == wire::RecordKind::kAcquire) {
      if (!is_atomic || !atomic_wrote_[thread]) {
        access(operation, thread, true, false);
      }
    } else {
      access(operation, thread, is_atomic || site.operation == Operation::kRead,
             site.operation != Operation::kRead);
    }
  }
  for (const Thread& thread : threads) {
    const detector::LaneAccess& lane = operation.lanes[std::get<3>(thread)];
    if (operation.kind == wire::RecordKind::kRelease && (lane.flags & wire::kLaneVoid) == 0) {
      publish(site, lane, thread);
    } else if (operation.kind == wire::RecordKind::kAcquire) {
      acquire(site, lane, thread);
      if (is_atomic) {
        atomic_wrote_[thread] = false;
      }
    }
  }
}

bool ReferenceDetector::is_over(std::uint32_t launch) const {
  return std::ranges::none_of(threads_, [&](const auto& each) {
    return std::get<0>(each.first) == launch && each.second.is_alive;
  });
}

std::uint32_t ReferenceDetector::runnable(std::uint32_t launch, std::uint32_t cta,
                                          std::uint32_t warp) const {
  std::uint32_t lanes = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto place = threads_.find({launch, cta, warp, lane});
    if (place != threads_.end() && place->second.is_alive && !place->second.barrier &&
        !place->second.warp_barrier) {
      lanes |= 1U << lane;
    }
  }
  return lanes;
}

}  // namespace barracuda::oracle
