#include "session/unlogged_accesses.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "base/assert.h"
#include "base/strong_id.h"
#include "device_logger/word_owners.h"
#include "session/launch_arguments.h"
#include "session/launch_reach.h"
#include "session/owned_memory.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;
using detector::WorkId;

constexpr std::uint64_t kPointerBytes = 8;
// As many different sets of ranges are kept apart.
constexpr std::size_t kMostUnlogged = 64;
// Programmatic launches in a row that waited for what they depend on. More than a program does that
// shows a mistake and ends; who sorts by merging does ten and more at a time.
constexpr std::uint64_t kOftenEnough = 4;
// Records of a launch that is logged for being brief, and of all of these. A launch of 50,000
// threads that add two arrays has 6,000, and would take six times as long for them on a GPU.
constexpr std::uint64_t kMostOfBrief = 2048, kMostBriefRecords = 16384;

std::uint64_t argument_of(const UnloggedAccesses::BegunLaunch& launch,
                          const ptx::ArgumentWord& word) {
  return argument_word(launch.kernel, launch.arguments, word);
}

KnownLaunch known(const UnloggedAccesses::BegunLaunch& launch) {
  return {.kernel = launch.kernel,
          .arguments = launch.arguments,
          .extents = extents_of(launch.block, launch.grid)};
}

// 0 where it is not known.
std::uint64_t variable_of(const UnloggedAccesses::BegunLaunch& launch, const std::string& name) {
  const std::vector<std::string>& names = launch.kernel.variables;
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(found - names.begin());
  return found == names.end() || index >= launch.variables.size() ? 0
                                                                  : launch.variables[index].address;
}

// A joined range may be more than what was freed.
MemoryRanges without(const MemoryRanges& ranges, const MemoryRange& freed) {
  MemoryRanges rest;
  for (const MemoryRange& range : ranges) {
    if (!overlap(range, freed)) {
      rest.push_back(range);
      continue;
    }
    if (range.address < freed.address) {
      rest.push_back({.address = range.address, .bytes = freed.address - range.address});
    }
    if (end_of(freed) < end_of(range)) {
      rest.push_back({.address = end_of(freed), .bytes = end_of(range) - end_of(freed)});
    }
  }
  return rest;
}

void add_missing(MemoryRanges& ranges, const MemoryRanges& more) {
  for (const MemoryRange& range : more) {
    if (std::ranges::none_of(ranges, [&](const MemoryRange& known) {
          return known.address <= range.address && end_of(range) <= end_of(known);
        })) {
      ranges.push_back(range);
    }
  }
}

// Whether all sites of an access were looked at for a range that is owned.
bool are_owners(const wire::OwnedSites& sites, const ptx::GlobalAccess& access,
                std::uint32_t range) {
  for (std::uint32_t site = 0; site < access.sites; ++site) {
    const std::uint32_t at = access.first_site + site - sites.first;
    if (at >= wire::kMostOwnedSites || (sites.ranges[at] >> range & 1) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// A trace must hold what a detector of any options would ask for, and the paper's rules ask for
// each access.
bool UnloggedAccesses::are_wanted(const Options& options) {
  return (options.filter == "auto" || options.filter == "on") && options.record.empty() &&
         options.model != "paper";
}

UnloggedAccesses::UnloggedAccesses(const Options& options, const AllocationTable& allocations,
                                   StreamTracker& streams, Problems& problems, Describe describe)
    : is_wanted_(are_wanted(options)),
      foresees_(options.filter == "auto"),
      allocations_(allocations),
      streams_(streams),
      problems_(problems),
      describe_(std::move(describe)),
      beside_(streams) {}

// Variables of modules are no allocations here. A pointer to one is not known to lead there.
std::optional<UnloggedAccesses::Written> UnloggedAccesses::written_by(
    const BegunLaunch& launch) const {
  const ptx::GlobalWrites& writes = launch.kernel.writes;
  if (!writes.is_known || launch.arguments.empty()) {
    return std::nullopt;
  }
  Written written;
  for (const ptx::ArgumentWord& argument : writes.arguments) {
    const std::uint64_t pointer = argument_of(launch, argument);
    // A pointer to an end may be meant to be counted down. Where another allocation begins there,
    // as allocators put arrays side by side, that one is taken to be meant: who writes the other
    // one is seen by the logger.
    const auto behind = allocations_.allocation_with(pointer);
    const auto before = allocations_.allocation_with(pointer - 1);
    if (!behind && !before) {
      if (leads_nowhere(writes, pointer)) {
        continue;  // nothing can be written there
      }
      return std::nullopt;
    }
    for (const auto& range : {behind, before}) {
      if (range) {
        written.maybe.push_back(*range);
      }
    }
    written.likely.push_back(behind ? *behind : *before);
  }
  return written;
}

// The allocations that an argument leads to. What is no pointer and looks like one does no harm.
MemoryRanges UnloggedAccesses::read_only(const BegunLaunch& launch,
                                         const MemoryRanges& written) const {
  MemoryRanges found;
  for (const ptx::ParameterPlace& place : launch.kernel.parameters) {
    for (std::uint64_t at = 0; at + kPointerBytes <= place.size; at += kPointerBytes) {
      const auto range = allocations_.allocation_with(word_at(launch.arguments, place.offset + at));
      if (range && !overlap({*range}, written) && !overlap({*range}, found)) {
        found.push_back(*range);
      }
    }
  }
  return found;
}

// As far as the reach of its addresses is known. A variable counts as accessed by each kernel that
// names it.
TouchedMemory UnloggedAccesses::touched_by(const BegunLaunch& launch,
                                           const std::optional<Written>& written,
                                           const std::optional<MemoryRanges>& reach) const {
  TouchedMemory touched;
  const bool are_variables_known = std::ranges::all_of(
      launch.variables, [](const MemoryRange& variable) { return variable.bytes != 0; });
  if (written && (are_variables_known || !launch.kernel.writes.variables)) {
    touched.written = reach ? parts_in_reach(written->maybe, *reach) : written->maybe;
    if (reach) {  // where no pointer leads an access has left its array, maybe a store
      const MemoryRanges arrays = read_only(launch, {});
      std::ranges::copy_if(*reach, std::back_inserter(*touched.written),
                           [&](const MemoryRange& part) { return !overlap({part}, arrays); });
    }
    if (launch.kernel.writes.variables) {
      touched.written->insert(touched.written->end(), launch.variables.begin(),
                              launch.variables.end());
    }
  }
  if (reach && are_variables_known) {
    touched.accessed = reach;
    touched.accessed->insert(touched.accessed->end(), launch.variables.begin(),
                             launch.variables.end());
  }
  return touched;
}

// Those that a launch writes and of which not all threads are known to have parts of their own.
// Their states have to be zeroed, which is worth it where the accesses are many for their size: 8
// KiB take a GPU 4 ns, and the host is some 100 ns at work for each record of a warp.
MemoryRanges UnloggedAccesses::watched(const BegunLaunch& launch,
                                       const MemoryRanges& written) const {
  constexpr std::uint64_t kAlways = std::uint64_t{32} << 20, kBytesOfAccess = 4096;
  const std::uint64_t blocks = launch.grid.volume();
  const std::uint64_t instructions =
      std::max<std::uint64_t>(launch.kernel.accesses.accesses.size(), 1);
  const std::uint64_t most =
      std::max(kAlways, blocks * launch.block.volume() * instructions * kBytesOfAccess);
  MemoryRanges found;
  if (!launch.kernel.keeps_owners || blocks > wire::kMostOwnerBlocks) {
    return found;
  }
  std::uint64_t states = 0;
  for (const MemoryRange& range : written) {
    const std::uint64_t its_states =
        (range.bytes >> launch.kernel.owner_granule_log2) * wire::kOwnerBytes;
    if (range.address % wire::kWatchedAlignment == 0 && range.bytes <= most &&
        states + its_states < launch.most_owner_bytes && !overlap({range}, found)) {
      states += its_states;
      found.push_back(
          {.address = range.address, .bytes = align_up(range.bytes, wire::kWatchedAlignment)});
    }
  }
  return found;
}

// Of more ranges than the descriptor has room for, neighbours of which none is written become one
// if nothing between them is written: what else lies there is not written either. Kernels of twenty
// arrays are common in simulations.
void UnloggedAccesses::join_neighbours(std::vector<Range>& ranges, const MemoryRanges& written) {
  constexpr std::uint64_t kMostBetween = std::uint64_t{2} << 20;  // cudaMalloc's large pages
  if (ranges.size() <= wire::kMostUnloggedRanges) {
    return;
  }
  MemoryRanges others = written;
  for (const Range& range : ranges) {
    if (range.why != Why::kUnwritten) {
      others.push_back(range.part);
    }
  }
  std::ranges::sort(ranges, {}, place_of);
  while (ranges.size() > wire::kMostUnloggedRanges) {
    std::uint64_t least = kMostBetween;
    auto first = ranges.end();
    for (auto at = ranges.begin(); at + 1 != ranges.end() && at[1].why == Why::kUnwritten; ++at) {
      const std::uint64_t between =
          at[1].part.address - std::min(at[1].part.address, end_of(at->part));
      if (between < least && !overlap({hull(at->part, at[1].part)}, others)) {
        least = between;
        first = at;
      }
    }
    if (first == ranges.end()) {
      return;
    }
    first->whole = first->part = hull(first->part, first[1].part);
    ranges.erase(first + 1);
  }
}

// The largest allocations for which the descriptor has room, by what is known of them; with a
// reach, what is in reach of them.
std::vector<UnloggedAccesses::Range> UnloggedAccesses::left_out_of(
    const BegunLaunch& launch, const MemoryRanges& written,
    const std::optional<MemoryRanges>& reach) const {
  const auto part_of = [&](const MemoryRange& range) {
    return reach ? part_in_reach(range, *reach) : range;
  };
  const MemoryRanges unwritten = read_only(launch, written);
  std::vector<Range> ranges;
  for (const MemoryRange& range : unwritten) {
    ranges.push_back({.whole = range, .part = part_of(range)});
  }
  if (!launch.kernel.writes.variables) {
    for (const MemoryRange& variable : launch.variables) {
      ranges.push_back({.whole = variable, .part = variable});
    }
  }
  MemoryRanges owned;
  for (OwnedAllocation& each : find_owned(known(launch), allocations_, unwritten)) {
    owned.push_back(part_of(each.range));
    ranges.push_back({.whole = each.range,
                      .part = owned.back(),
                      .accesses = std::move(each.accesses),
                      .why = Why::kOwned});
  }
  for (const MemoryRange& range :
       watched(launch, reach ? parts_in_reach(written, *reach) : written)) {
    if (!overlap({range}, owned)) {
      ranges.push_back({.whole = range, .part = range, .why = Why::kWatched});
    }
  }
  std::erase_if(ranges, [](const Range& range) { return range.part.bytes == 0; });
  if (!reach) {
    join_neighbours(ranges, written);
  }
  if (ranges.size() > wire::kMostUnloggedRanges) {
    std::ranges::sort(ranges, std::greater<>(),
                      [](const Range& range) { return range.part.bytes; });
    ranges.resize(wire::kMostUnloggedRanges);
  }
  std::ranges::sort(ranges, {}, place_of);
  return ranges;
}

UnloggedAccesses::LeftOut UnloggedAccesses::leave_out(const BegunLaunch& launch,
                                                      const MemoryRanges& written,
                                                      const std::optional<MemoryRanges>& reach) {
  LeftOut left_out;
  left_out.is_whole = launch.is_repeated && leave_out_whole(launch, written, reach);
  if (left_out.is_whole) {
    return left_out;
  }
  const std::vector<Range> ranges = left_out_of(launch, written, reach);
  left_out.sites.first = first_owned_site(launch.kernel.accesses);
  Unlogged kept{.id = launch.id, .lets_dependents_begin = launch.kernel.lets_dependents_begin};
  for (const Range& range : ranges) {
    const std::uint32_t i = left_out.memory.count++;
    left_out.memory.ranges[i] = {.address = range.part.address, .bytes = range.part.bytes};
    if (range.why == Why::kOwned) {
      ++left_out.memory.owned;
    } else if (range.why == Why::kWatched) {
      ++left_out.memory.watched;
    }
    (range.why == Why::kUnwritten ? kept.read : kept.owned).push_back(range.part);
    for (const ptx::GlobalAccess* access : range.accesses) {
      for (std::uint32_t site = 0; site < access->sites; ++site) {
        left_out.sites.ranges[access->first_site + site - left_out.sites.first] |=
            static_cast<std::uint16_t>(1U << i);
      }
    }
  }
  if (!ranges.empty() && !keep(std::move(kept))) {
    return {};
  }
  const std::vector<ptx::Shortcut>& shortcuts = launch.kernel.shortcuts;
  ASSERT(shortcuts.size() <= left_out.shortcuts.size());
  for (std::size_t i = 0; i < shortcuts.size(); ++i) {
    left_out.shortcuts[i] = range_of(shortcuts[i], launch, left_out, ranges);
  }
  return left_out;
}

bool UnloggedAccesses::leave_out_whole(const BegunLaunch& launch, const MemoryRanges& written,
                                       const std::optional<MemoryRanges>& reach) {
  const bool are_known =
      std::ranges::all_of(launch.kernel.accesses.accesses, [&](const ptx::GlobalAccess& access) {
        const auto is_known = [&](const ptx::ArgumentWord& argument) {
          const std::uint64_t word = argument_of(launch, argument);
          return allocations_.allocation_with(word).has_value() ||
                 leads_nowhere(access.leads, word);
        };
        return !access.leads.variables && std::ranges::all_of(access.leads.arguments, is_known);
      });
  const auto parts = [&reach](const MemoryRanges& ranges) {
    return reach ? parts_in_reach(ranges, *reach) : ranges;
  };
  return are_known &&
         keep(
             {.id = launch.id, .read = parts(read_only(launch, written)), .owned = parts(written)});
}

wire::UnloggedRange UnloggedAccesses::range_of(const ptx::Shortcut& shortcut,
                                               const BegunLaunch& launch, const LeftOut& left_out,
                                               std::span<const Range> ranges) {
  const wire::UnloggedMemory& memory = left_out.memory;
  const std::uint64_t pointer = shortcut.argument ? argument_of(launch, *shortcut.argument)
                                                  : variable_of(launch, shortcut.variable);
  const std::uint32_t first_watched = memory.count - memory.watched,
                      first_owned = first_watched - memory.owned;
  for (std::uint32_t i = 0; i < first_watched; ++i) {
    const wire::UnloggedRange& range = memory.ranges[i];
    if (pointer - ranges[i].whole.address >= ranges[i].whole.bytes) {
      continue;
    }
    const bool is_left_out =
        i < first_owned
            ? !shortcut.stores
            : std::ranges::all_of(
                  shortcut.accesses,
                  [&](std::uint32_t access) {
                    return are_owners(left_out.sites, launch.kernel.accesses.accesses[access], i);
                  });
    return is_left_out ? range : wire::UnloggedRange{};
  }
  return {};
}

std::array<wire::UnloggedRange, wire::kShortcuts> UnloggedAccesses::LeftOut::whole_shortcuts()
    const {
  std::array<wire::UnloggedRange, wire::kShortcuts> whole = shortcuts;
  for (wire::UnloggedRange& range : whole) {
    const std::uint64_t end = align_down(range.address + range.bytes, wire::kMostShortcutBytes);
    range.bytes = end > range.address ? end - range.address : 0;
  }
  return whole;
}

bool UnloggedAccesses::LeftOut::is_all_of(const ptx::Kernel& kernel) const {
  return !kernel.guarded.empty() &&
         std::ranges::all_of(std::span(shortcuts).first(kernel.shortcuts.size()),
                             [](const wire::UnloggedRange& range) { return range.bytes != 0; });
}

std::uint64_t watched_bytes(const wire::UnloggedMemory& memory) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = memory.count - memory.watched; i < memory.count; ++i) {
    bytes += memory.ranges[i].bytes;
  }
  return bytes;
}

void UnloggedAccesses::give_up(const std::string& reason) {
  is_given_up_ = true;
  unlogged_.clear();
  problems_.add(reason + ": not checked (filter=off checks it). From here on everything is logged");
}

void UnloggedAccesses::hold_against(WorkId work, const TouchedMemory& touched,
                                    bool may_begin_early) {
  for (const Unlogged& unlogged : unlogged_) {
    const bool is_read = may_overlap(unlogged.read, touched.written);
    if (streams_.is_before(unlogged.id, work) ||
        (may_begin_early && !unlogged.lets_dependents_begin) ||
        (!is_read && !may_overlap(unlogged.owned, touched.accessed))) {
      continue;
    }
    const std::string other = std::to_string(index_of(unlogged.id)) + describe_(unlogged.id);
    return give_up(
        (work.is_copy()
             ? "a copy, memset or free"
             : "launch " + std::to_string(index_of(work.launch())) + describe_(work.launch())) +
        (is_read ? " may write memory while launch " : " may access memory while launch ") + other +
        ", or one before it, " + (is_read ? "reads it" : "writes it"));
  }
}

bool UnloggedAccesses::Unlogged::has_same(const Unlogged& other) const {
  return are_equal(read, other.read) && are_equal(owned, other.owned);
}

// One stands for all that it comes after: what is after it is after those.
bool UnloggedAccesses::keep(Unlogged kept) {
  const auto is_before = [&](const Unlogged& unlogged) {
    return streams_.is_before(unlogged.id, kept.id);
  };
  const auto same = std::ranges::find_if(unlogged_, [&](const Unlogged& unlogged) {
    return unlogged.has_same(kept) && is_before(unlogged);
  });
  if (same != unlogged_.end()) {
    same->id = kept.id;
    same->lets_dependents_begin = kept.lets_dependents_begin;
    return true;
  }
  if (unlogged_.size() == kMostUnlogged) {
    std::erase_if(unlogged_, [&](const Unlogged& old) { return streams_.host_waited_for(old.id); });
  }
  if (unlogged_.size() == kMostUnlogged) {
    const auto oldest = std::ranges::find_if(unlogged_, is_before);
    if (oldest == unlogged_.end()) {
      return false;
    }
    add_missing(kept.read, oldest->read);
    add_missing(kept.owned, oldest->owned);
    unlogged_.erase(oldest);
  }
  unlogged_.push_back(std::move(kept));
  return true;
}

UnloggedAccesses::LeftOut UnloggedAccesses::begin(const BegunLaunch& launch) {
  return is_on() ? begin(launch, streams_.is_after_all(launch.id)) : LeftOut{};
}

UnloggedAccesses::LeftOut UnloggedAccesses::begin(const BegunLaunch& launch, bool is_after_all) {
  if (!is_on()) {
    return {};
  }
  waited_first_ = launch.may_begin_early ? 0 : waited_first_ + (launch.is_programmatic ? 1 : 0);
  const std::optional<Written> written = written_by(launch);
  const bool may_leave_out = written && will_be_waited_for(launch) && !is_brief(launch);
  const bool has_no_rival = streams_.has_no_rival(launch.stream);
  // Programs of one stream, which most are, need not know what is in reach.
  if (is_after_all && has_no_rival && !launch.may_begin_early) {
    beside_.add_after_all(launch.id);
    return may_leave_out ? leave_out(launch, written->likely, std::nullopt) : LeftOut{};
  }
  const std::optional<MemoryRanges> reach = find_reach(known(launch), allocations_);
  TouchedMemory touched = touched_by(launch, written, reach);
  hold_against(launch.id, touched, launch.may_begin_early && has_no_rival);
  const bool is_apart = beside_.add(launch.id, std::move(touched));
  if (!is_on() || !may_leave_out || launch.may_begin_early || !(is_after_all || is_apart)) {
    return {};
  }
  const bool is_foreseen = has_no_rival || (is_after_all && streams_.is_sequential()) ||
                           beside_.are_apart_for_long(launch.grid.volume() * launch.block.volume());
  if (!is_foreseen && foresees_) {
    ++unforeseen_;
    return {};
  }
  return leave_out(launch, written->likely, reach);
}

bool UnloggedAccesses::is_brief(const BegunLaunch& launch) {
  const std::uint64_t warps =
      launch.grid.volume() * ((launch.block.volume() + wire::kWarpLanes - 1) / wire::kWarpLanes);
  const std::uint64_t records = warps * launch.kernel.most_records.value_or(kMostOfBrief + 1);
  const bool is_so = foresees_ && !launch.is_repeated && records <= kMostOfBrief &&
                     brief_records_ + records <= kMostBriefRecords;
  brief_records_ += is_so ? records : 0;
  return is_so;
}

bool UnloggedAccesses::will_be_waited_for(const BegunLaunch& launch) const {
  return !launch.kernel.lets_dependents_begin || !foresees_ || waited_first_ >= kOftenEnough;
}

void UnloggedAccesses::begin(LaunchId id) {
  if (is_on()) {
    hold_against(id, {});
    beside_.add(id, {});
  }
}

// What a free in the order of a stream comes after ends with it (RACE_RULES section 1).
void UnloggedAccesses::end_life(const MemoryRange& range, WorkId free) {
  for (Unlogged& unlogged : unlogged_) {
    if (streams_.is_before(unlogged.id, free)) {
      unlogged.read = without(unlogged.read, range);
      unlogged.owned = without(unlogged.owned, range);
    }
  }
  std::erase_if(unlogged_, [](const Unlogged& unlogged) {
    return unlogged.read.empty() && unlogged.owned.empty();
  });
}

void UnloggedAccesses::begin(const detector::CopyInfo& copy) {
  if (!is_on()) {
    return;
  }
  MemoryRanges written, accessed;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.rows != 0 && rows.row_bytes != 0) {
      accessed.push_back(
          {.address = rows.address, .bytes = (rows.rows - 1) * rows.pitch + rows.row_bytes});
      if (rows.is_written) {
        written.push_back(accessed.back());
      }
    }
  }
  const TouchedMemory touched{.written = written, .accessed = accessed};
  // An allocation races with what comes after it alone (RACE_RULES section 1).
  if (copy.operation != detector::HostOperation::kAllocation) {
    hold_against(copy.id, touched);
  }
  beside_.add(copy.id, touched);
  if (copy.operation == detector::HostOperation::kFree && !written.empty()) {
    end_life(written.front(), copy.id);
  }
}

void UnloggedAccesses::end(LaunchId id, const wire::UnloggedMemory& unlogged) {
  if (unlogged.written != 0 && is_on()) {
    give_up("launch " + std::to_string(index_of(id)) + describe_(id) +
            " wrote memory that none of its pointers to write leads to, and may have read it" +
            (unlogged.owned == 0 ? "" : ", or accessed what was taken to be one thread's alone"));
  }
}

}  // namespace barracuda::session
