#include "tests/oracle/host_detector/paper_reference.h"

#include <algorithm>

namespace barracuda::oracle::paper {
namespace {

using wire::FenceScope;
using wire::Operation;
using wire::RecordKind;

void join(VectorClock& into, const VectorClock& other) {
  for (const auto& [thread, time] : other) {
    into[thread] = std::max(into[thread], time);
  }
}

std::pair<std::uint32_t, std::uint32_t> block_of(const Thread& t) {
  return {std::get<0>(t), std::get<1>(t)};
}

bool is_atomic(const wire::SiteInfo& site) {
  return site.operation == Operation::kAtomic || site.operation == Operation::kReduction;
}

}  // namespace

void Reference::apply(const detector::CopyInfo& copy) {
  for (const detector::WorkId earlier : copy.ordered_after) {
    join(ends_[number_of(copy.id)], ends_[number_of(earlier)]);
  }
}

void Reference::begin_launch(const detector::LaunchInfo& launch) {
  const auto id = static_cast<std::uint32_t>(launch.id);
  const auto prerequisite = static_cast<std::uint32_t>(launch.prerequisite);
  VectorClock before;
  for (const detector::WorkId earlier : launch.ordered_after) {
    const std::uint32_t ended = number_of(earlier);
    const bool is_early = ended == prerequisite && let_begin_.contains(ended);
    join(before, is_early ? beginnings_[ended] : ends_[ended]);
  }
  beginnings_[id] = before;
  if (let_begin_.contains(prerequisite)) {
    awaited_[id] = prerequisite;
  }
  for (std::uint32_t block = 0; block < launch.grid.x; ++block) {
    blocks_.insert({id, block});
    for (auto& [x, released] : released_) {
      released[{id, block}] = released[kLaterBlocks];
    }
    for (std::uint32_t thread = 0; thread < launch.block.x; ++thread) {
      const Thread t{id, block, thread / 32, thread % 32};
      clocks_[t] = before;
      ++clocks_[t][t];
      alive_.insert(t);
      std::vector<std::uint32_t>& stack = stacks_[{id, block, thread / 32}];
      stack.resize(1);
      stack[0] |= 1U << thread % 32;
    }
  }
}

std::set<Thread> Reference::active(const Warp& w) const {
  std::set<Thread> threads;
  const auto& [launch, block, warp] = w;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Thread t{launch, block, warp, lane};
    if ((stacks_.at(w).back() >> lane & 1) != 0 && alive_.contains(t)) {
      threads.insert(t);
    }
  }
  return threads;
}

void Reference::join_and_fork(const std::set<Thread>& threads) {
  VectorClock vc;
  for (const Thread& t : threads) {
    join(vc, clocks_[t]);
  }
  for (const Thread& t : threads) {
    clocks_[t] = vc;
    ++clocks_[t][t];
  }
}

bool Reference::precedes(const Epoch& earlier, const Thread& t) const {
  const VectorClock& clock = clocks_.at(t);
  const auto known = clock.find(earlier.thread);
  return known != clock.end() && earlier.time <= known->second;
}

void Reference::report(const Epoch& earlier, const Epoch& later, const Location& x) {
  const auto [low, high] = std::minmax(earlier.site, later.site);
  const auto& [launch, block, warp, lane] = earlier.thread;
  const auto& [later_launch, later_block, later_warp, later_lane] = later.thread;
  const detector::RaceKind kind = launch != later_launch ? detector::RaceKind::kInterKernel
                                  : block != later_block ? detector::RaceKind::kInterBlock
                                  : warp != later_warp   ? detector::RaceKind::kIntraBlock
                                  : earlier.instruction == later.instruction
                                      ? detector::RaceKind::kIntraWarp
                                      : detector::RaceKind::kBranchOrdering;
  races_.insert({.low_site = low, .high_site = high, .kind = kind, .location = x});
}

// READEXCL, READSHARED, READINFLATE
void Reference::rd(const Epoch& epoch, const Location& x, bool is_relaxed) {
  Memory& memory = memory_[x];
  if (memory.write && !precedes(*memory.write, epoch.thread)) {
    report(*memory.write, epoch, x);
  }
  for (const Epoch& atomic : memory.atomics) {
    if (!is_relaxed && !precedes(atomic, epoch.thread)) {
      report(atomic, epoch, x);
    }
  }
  std::vector<Epoch>& reads = is_relaxed ? memory.relaxed_reads : memory.reads;
  if (reads.size() == 1 && precedes(reads[0], epoch.thread)) {
    reads.clear();
  }
  std::erase_if(reads, [&](const Epoch& read) { return read.thread == epoch.thread; });
  reads.push_back(epoch);
}

// WRITEEXCL, WRITESHARED
void Reference::wr(const Epoch& epoch, const Location& x) {
  Memory& memory = memory_[x];
  if (memory.write && !precedes(*memory.write, epoch.thread)) {
    const bool is_same_value =
        memory.write->instruction == epoch.instruction && memory.write->agrees && epoch.agrees;
    if (!is_same_value) {
      report(*memory.write, epoch, x);
    }
  }
  for (const std::vector<Epoch>* reads : {&memory.reads, &memory.atomics, &memory.relaxed_reads}) {
    for (const Epoch& read : *reads) {
      if (!precedes(read, epoch.thread)) {
        report(read, epoch, x);
      }
    }
  }
  memory = {.write = epoch, .atomics = {}, .reads = {}, .relaxed_reads = {}};
}

// INITATOMEXCL, INITATOMSHRD, ATOMEXCL, ATOMSHARED
void Reference::atm(const Epoch& epoch, const Location& x) {
  Memory& memory = memory_[x];
  if (memory.write && !precedes(*memory.write, epoch.thread)) {
    report(*memory.write, epoch, x);
  }
  for (const Epoch& read : memory.reads) {
    if (!precedes(read, epoch.thread)) {
      report(read, epoch, x);
    }
  }
  memory.reads.clear();
  memory.atomics.push_back(epoch);
}

// ACQBLOCK, ACQGLOBAL
void Reference::acq(const Thread& t, const Location& x, FenceScope scope) {
  for (const auto& [block, clock] : released_[x]) {
    if (block == block_of(t) || (scope == FenceScope::kGlobal && block.first == std::get<0>(t))) {
      join(clocks_[t], clock);
    }
  }
}

// RELBLOCK, RELGLOBAL (later: an atomic that says that it releases follows on others); the time of
// `t` advances with ENDINSN
void Reference::rel(const Thread& t, const Location& x, FenceScope scope, bool adds) {
  for (const Block& block : blocks_) {
    if (block == block_of(t) || scope == FenceScope::kGlobal) {
      VectorClock& released = released_[x][block];
      if (!adds) {
        released.clear();
      }
      join(released, clocks_[t]);
    }
  }
}

// ENDINSN
void Reference::endi(const Warp& w) {
  join_and_fork(active(w));
}

// IF
void Reference::branch(const Warp& w, std::uint32_t first, std::uint32_t second) {
  stacks_[w].push_back(second);
  stacks_[w].push_back(first);
  join_and_fork(active(w));
}

// ELSEENDIF
void Reference::pop(const Warp& w) {
  stacks_[w].pop_back();
  join_and_fork(active(w));
}

// BAR
void Reference::bar(const Block& b) {
  std::set<Thread> threads;
  for (const Thread& t : waiting_) {
    if (block_of(t) == b) {
      threads.insert(t);
    }
  }
  join_and_fork(threads);
  for (const Thread& t : threads) {
    waiting_.erase(t);
  }
}

void Reference::open_barrier_if_complete(const Block& b) {
  const auto of_block = [&](const Thread& t) { return block_of(t) == b; };
  const auto waiting = std::ranges::count_if(waiting_, of_block);
  if (waiting != 0 && waiting == std::ranges::count_if(alive_, of_block)) {
    bar(b);
  }
}

std::vector<Location> Reference::bytes_of(const detector::WarpOperation& operation,
                                          const Thread& t) const {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const std::uint64_t tagged = operation.lanes[std::get<3>(t)].address;
  Space space;
  if (wire::space_of(tagged) != wire::AddressSpace::kGlobal) {
    space = block_of(t);
  }
  std::vector<Location> bytes;
  for (std::uint32_t i = 0; i < std::uint32_t{site.element_bytes} * site.element_count; ++i) {
    bytes.emplace_back(space, wire::address_of(tagged) + i);
  }
  return bytes;
}

void Reference::access(const detector::WarpOperation& operation, const Thread& t) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const Epoch epoch{.thread = t,
                    .time = clocks_[t][t],
                    .instruction = instruction_,
                    .site = static_cast<std::uint32_t>(operation.site),
                    .agrees = operation.lanes_agree};
  const bool is_relaxed = site.order > wire::MemoryOrder::kVolatile;
  for (const Location& x : bytes_of(operation, t)) {
    if (site.operation == Operation::kRead) {
      rd(epoch, x, is_relaxed);
    } else if (site.operation == Operation::kWrite && !is_relaxed) {
      wr(epoch, x);
    } else {
      atm(epoch, x);
    }
  }
}

// acqBlk, relBlk, arBlk and their like, for all bytes of x
void Reference::synchronise(const detector::WarpOperation& operation, const Thread& t) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const std::vector<Location> bytes = bytes_of(operation, t);
  // An atomic has two records: what releases is done with the first.
  const bool is_second = is_atomic(site) && operation.kind == RecordKind::kAcquire;
  const bool is_at_second = is_atomic(site) && site.releases == FenceScope::kNone;
  if (site.acquires != FenceScope::kNone && is_second == is_at_second) {
    for (const Location& x : bytes) {
      acq(t, x, site.acquires);
    }
  }
  if (site.releases != FenceScope::kNone && !is_second) {
    for (const Location& x : bytes) {
      const bool adds = is_atomic(site) && site.acquires == FenceScope::kNone &&
                        site.order >= wire::MemoryOrder::kRelease;
      rel(t, x, site.releases, adds);
    }
  }
}

void Reference::event(const detector::WarpOperation& operation, const Warp& w) {
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const auto& [launch, block, warp] = w;
  if (site.operation == Operation::kBranch) {
    const std::uint32_t taken = operation.event_operand;
    branch(w, operation.event_count == 0 ? taken : operation.mask & ~taken,
           operation.event_count == 0 ? operation.mask & ~taken : taken);
    return;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Thread t{launch, block, warp, lane};
    if ((operation.mask >> lane & 1) == 0) {
      continue;
    }
    if (site.operation == Operation::kBarrier) {
      waiting_.insert(t);
    } else if (site.operation == Operation::kLaunchDependents) {
      let_begin_.insert(launch);
    } else if (site.operation == Operation::kGridWait && awaited_.contains(launch)) {
      join(clocks_[t], ends_[awaited_[launch]]);
    } else if (site.operation == Operation::kExit) {
      join(ends_[launch], clocks_[t]);
      alive_.erase(t);
    }
  }
  open_barrier_if_complete({launch, block});
}

void Reference::apply(const detector::WarpOperation& operation) {
  ++instruction_;
  const wire::SiteInfo& site = sites_[static_cast<std::size_t>(operation.site)];
  const Warp w{static_cast<std::uint32_t>(operation.launch), operation.cta, operation.warp};
  while ((operation.mask & ~stacks_[w].back()) != 0) {
    pop(w);
  }
  if (operation.kind == RecordKind::kEvent) {
    event(operation, w);
    return;
  }
  const bool is_sync = site.acquires != FenceScope::kNone || site.releases != FenceScope::kNone;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Thread t{std::get<0>(w), std::get<1>(w), std::get<2>(w), lane};
    if ((operation.mask >> lane & 1) == 0) {
      continue;
    }
    if (is_sync) {
      synchronise(operation, t);
    } else if (!is_atomic(site) || operation.kind != RecordKind::kAcquire) {
      access(operation, t);
    }
  }
  endi(w);
}

}  // namespace barracuda::oracle::paper
