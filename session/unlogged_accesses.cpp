#include "session/unlogged_accesses.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "base/assert.h"
#include "base/strong_id.h"
#include "device_logger/word_owners.h"
#include "session/owned_memory.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;
using detector::WorkId;

constexpr std::uint64_t kPointerBytes = 8;
// As many different sets of ranges are kept apart.
constexpr std::size_t kMostUnlogged = 64;

std::uint64_t end_of(const MemoryRange& range) {
  return range.address + range.bytes;
}

bool overlap(const MemoryRange& one, const MemoryRange& other) {
  return one.address < end_of(other) && other.address < end_of(one);
}

bool overlap(const std::vector<MemoryRange>& some, const std::vector<MemoryRange>& others) {
  return std::ranges::any_of(some, [&](const MemoryRange& one) {
    return std::ranges::any_of(others,
                               [&](const MemoryRange& other) { return overlap(one, other); });
  });
}

// Nothing: with anything that there is.
bool may_overlap(const std::vector<MemoryRange>& some,
                 const std::optional<std::vector<MemoryRange>>& others) {
  return !some.empty() && (!others || overlap(some, *others));
}

bool are_equal(const std::vector<MemoryRange>& some, const std::vector<MemoryRange>& others) {
  return std::ranges::equal(some, others, [](const MemoryRange& one, const MemoryRange& other) {
    return one.address == other.address && one.bytes == other.bytes;
  });
}

std::uint64_t word_at(const std::vector<std::byte>& arguments, std::uint64_t offset) {
  std::uint64_t word = 0;
  if (offset + sizeof word <= arguments.size()) {
    std::memcpy(&word, arguments.data() + offset, sizeof word);
  }
  return word;
}

std::uint64_t argument_of(const UnloggedAccesses::BegunLaunch& launch,
                          const ptx::ArgumentWord& word) {
  return word_at(launch.arguments, launch.kernel.parameters[word.parameter].offset + word.offset);
}

// 0 where it is not known.
std::uint64_t variable_of(const UnloggedAccesses::BegunLaunch& launch, const std::string& name) {
  const std::vector<std::string>& names = launch.kernel.variables;
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(found - names.begin());
  return found == names.end() || index >= launch.variables.size() ? 0
                                                                  : launch.variables[index].address;
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
      describe_(std::move(describe)) {}

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
    if (pointer == 0) {
      continue;  // nothing can be written there
    }
    // A pointer to an end may be meant to be counted down. Where another allocation begins there,
    // as allocators put arrays side by side, that one is taken to be meant: who writes the other
    // one is seen by the logger.
    const auto behind = allocations_.allocation_with(pointer);
    const auto before = allocations_.allocation_with(pointer - 1);
    if (!behind && !before) {
      return std::nullopt;
    }
    for (const auto& range : {behind, before}) {
      if (range) {
        written.maybe.push_back(*range);
      }
    }
    written.likely.push_back(behind ? *behind : *before);
  }
  if (writes.variables) {
    written.maybe.insert(written.maybe.end(), launch.variables.begin(), launch.variables.end());
  }
  return written;
}

// The allocations that an argument leads to, and the variables that the kernel names. What is no
// pointer and looks like one does no harm.
UnloggedAccesses::Ranges UnloggedAccesses::read_only(const BegunLaunch& launch,
                                                     const Ranges& written) const {
  Ranges found;
  for (const ptx::ParameterPlace& place : launch.kernel.parameters) {
    for (std::uint64_t at = 0; at + kPointerBytes <= place.size; at += kPointerBytes) {
      const auto range = allocations_.allocation_with(word_at(launch.arguments, place.offset + at));
      if (range && !overlap({*range}, written) && !overlap({*range}, found)) {
        found.push_back(*range);
      }
    }
  }
  if (!launch.kernel.writes.variables) {
    std::ranges::copy_if(launch.variables, std::back_inserter(found),
                         [](const MemoryRange& range) { return range.bytes != 0; });
  }
  return found;
}

// The allocations that the launch may access at all.
std::optional<UnloggedAccesses::Ranges> UnloggedAccesses::accessed_by(
    const BegunLaunch& launch) const {
  const ptx::GlobalAccesses& accesses = launch.kernel.accesses;
  if (!accesses.are_known || launch.arguments.empty()) {
    return std::nullopt;
  }
  Ranges accessed;
  for (const ptx::GlobalAccess& access : accesses.accesses) {
    for (const ptx::ArgumentWord& argument : access.leads.arguments) {
      const std::uint64_t pointer = argument_of(launch, argument);
      const auto behind = allocations_.allocation_with(pointer);
      const auto before = allocations_.allocation_with(pointer - 1);
      if (pointer != 0 && !behind && !before) {
        return std::nullopt;
      }
      for (const auto& range : {behind, before}) {
        if (range && pointer != 0 && !overlap({*range}, accessed)) {
          accessed.push_back(*range);
        }
      }
    }
  }
  return accessed;
}

// Those that a launch writes and of which not all threads are known to have parts of their own.
// Their states have to be zeroed, which is worth it where the threads are many for their size: 8
// KiB take a GPU 4 ns, and the host is some 100 ns at work for each record of a warp.
UnloggedAccesses::Ranges UnloggedAccesses::watched(const BegunLaunch& launch,
                                                   const Ranges& written) const {
  constexpr std::uint64_t kAlways = std::uint64_t{32} << 20, kBytesOfThread = 4096;
  const std::uint64_t blocks = launch.grid.volume();
  const std::uint64_t most = std::max(kAlways, blocks * launch.block.volume() * kBytesOfThread);
  constexpr std::uint64_t kMostStates = std::uint64_t{1} << 30;  // and as much beside them
  Ranges found;
  if (!launch.kernel.keeps_owners || blocks > wire::kMostOwnerBlocks) {
    return found;
  }
  std::uint64_t states = 0;
  for (const MemoryRange& range : written) {
    const std::uint64_t its_states =
        (range.bytes >> launch.kernel.owner_granule_log2) * wire::kOwnerBytes;
    if (range.address % wire::kWatchedAlignment == 0 && range.bytes <= most &&
        states + its_states < kMostStates && !overlap({range}, found)) {
      states += its_states;
      found.push_back(
          {.address = range.address, .bytes = align_up(range.bytes, wire::kWatchedAlignment)});
    }
  }
  return found;
}

// The largest allocations for which the descriptor has room, by what is known of them.
UnloggedAccesses::LeftOut UnloggedAccesses::leave_out(const BegunLaunch& launch,
                                                      const Ranges& written) {
  enum class Why : std::uint8_t { kUnwritten, kOwned, kWatched };

  struct Range {
    OwnedAllocation allocation;
    Why why = Why::kUnwritten;
  };

  const Ranges unwritten = read_only(launch, written);
  std::vector<Range> ranges;
  for (const MemoryRange& range : unwritten) {
    ranges.push_back({.allocation = {.range = range}});
  }
  Ranges owned;
  for (OwnedAllocation& each : find_owned({.kernel = launch.kernel,
                                           .arguments = launch.arguments,
                                           .extents = extents_of(launch.block, launch.grid)},
                                          allocations_, unwritten)) {
    owned.push_back(each.range);
    ranges.push_back({.allocation = std::move(each), .why = Why::kOwned});
  }
  for (const MemoryRange& range : watched(launch, written)) {
    if (!overlap({range}, owned)) {
      ranges.push_back({.allocation = {.range = range}, .why = Why::kWatched});
    }
  }
  if (ranges.size() > wire::kMostUnloggedRanges) {
    std::ranges::sort(ranges, std::greater<>(),
                      [](const Range& range) { return range.allocation.range.bytes; });
    ranges.resize(wire::kMostUnloggedRanges);
  }
  std::ranges::sort(ranges, {}, [](const Range& range) {
    return std::pair(range.why, range.allocation.range.address);
  });
  LeftOut left_out;
  left_out.sites.first = first_owned_site(launch.kernel.accesses);
  Unlogged kept{.id = launch.id};
  for (const Range& range : ranges) {
    const std::uint32_t i = left_out.memory.count++;
    const MemoryRange& memory = range.allocation.range;
    left_out.memory.ranges[i] = {.address = memory.address, .bytes = memory.bytes};
    if (range.why == Why::kOwned) {
      ++left_out.memory.owned;
    } else if (range.why == Why::kWatched) {
      ++left_out.memory.watched;
    }
    (range.why == Why::kUnwritten ? kept.read : kept.owned).push_back(memory);
    for (const ptx::GlobalAccess* access : range.allocation.accesses) {
      for (std::uint32_t site = 0; site < access->sites; ++site) {
        left_out.sites.ranges[access->first_site + site - left_out.sites.first] |=
            static_cast<std::uint8_t>(1U << i);
      }
    }
  }
  if (!ranges.empty()) {
    keep(std::move(kept));
  }
  const std::vector<ptx::Shortcut>& shortcuts = launch.kernel.shortcuts;
  ASSERT(shortcuts.size() <= left_out.shortcuts.size());
  for (std::size_t i = 0; i < shortcuts.size(); ++i) {
    left_out.shortcuts[i] = range_of(shortcuts[i], launch, left_out);
  }
  return left_out;
}

wire::UnloggedRange UnloggedAccesses::range_of(const ptx::Shortcut& shortcut,
                                               const BegunLaunch& launch, const LeftOut& left_out) {
  const wire::UnloggedMemory& memory = left_out.memory;
  const std::uint64_t pointer = shortcut.argument ? argument_of(launch, *shortcut.argument)
                                                  : variable_of(launch, shortcut.variable);
  const std::uint32_t first_watched = memory.count - memory.watched,
                      first_owned = first_watched - memory.owned;
  for (std::uint32_t i = 0; i < first_watched; ++i) {
    const wire::UnloggedRange& range = memory.ranges[i];
    if (pointer - range.address >= range.bytes) {
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
    const std::uint64_t end = align_down(range.address + range.bytes, wire::kMostShortcutBytes);
    return is_left_out && end > range.address
               ? wire::UnloggedRange{.address = range.address, .bytes = end - range.address}
               : wire::UnloggedRange{};
  }
  return {};
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

// Each launch in the list came after all that had begun, so what is after one of them is after
// those before it as well.
void UnloggedAccesses::hold_against(WorkId work, const Touched& touched) {
  for (const Unlogged& unlogged : unlogged_) {
    const bool is_read = may_overlap(unlogged.read, touched.written);
    if (streams_.is_before(unlogged.id, work) ||
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

void UnloggedAccesses::keep(Unlogged kept) {
  const auto same = std::ranges::find_if(
      unlogged_, [&](const Unlogged& unlogged) { return unlogged.has_same(kept); });
  if (same != unlogged_.end()) {
    same->id = kept.id;
    return;
  }
  if (unlogged_.size() == kMostUnlogged) {
    std::erase_if(unlogged_, [&](const Unlogged& old) { return streams_.host_waited_for(old.id); });
  }
  if (unlogged_.size() == kMostUnlogged) {  // what the oldest did, the next is said to have done
    const Unlogged& oldest = unlogged_[0];
    Unlogged& next = unlogged_[1];
    next.read.insert(next.read.end(), oldest.read.begin(), oldest.read.end());
    next.owned.insert(next.owned.end(), oldest.owned.begin(), oldest.owned.end());
    next.id = std::max(oldest.id, next.id);
    unlogged_.erase(unlogged_.begin());
  }
  unlogged_.push_back(std::move(kept));
}

UnloggedAccesses::LeftOut UnloggedAccesses::begin(const BegunLaunch& launch) {
  return is_on() ? begin(launch, streams_.is_after_all(launch.id)) : LeftOut{};
}

UnloggedAccesses::LeftOut UnloggedAccesses::begin(const BegunLaunch& launch, bool is_after_all) {
  if (!is_on()) {
    return {};
  }
  const std::optional<Written> written = written_by(launch);
  // Who lets dependents begin is logged (analysis/global_writes.cpp). All others are over when one
  // of the same stream begins, programmatic or not.
  if (!unlogged_.empty() && (!launch.is_programmatic || !streams_.has_no_rival(launch.stream))) {
    hold_against(launch.id, {.written = written ? std::optional(written->maybe) : std::nullopt,
                             .accessed = accessed_by(launch)});
  }
  if (!is_on() || !written || launch.is_programmatic || !is_after_all ||
      (foresees_ && !streams_.has_no_rival(launch.stream) && !streams_.is_sequential())) {
    return {};
  }
  return leave_out(launch, written->likely);
}

void UnloggedAccesses::begin(LaunchId id) {
  if (is_on()) {
    hold_against(id, {});
  }
}

// What a free in the order of a stream comes after ends with it (RACE_RULES section 1).
void UnloggedAccesses::end_life(const MemoryRange& range, WorkId free) {
  const auto is_freed = [&](const MemoryRange& kept) { return overlap(kept, range); };
  for (Unlogged& unlogged : unlogged_) {
    if (streams_.is_before(unlogged.id, free)) {
      std::erase_if(unlogged.read, is_freed);
      std::erase_if(unlogged.owned, is_freed);
    }
  }
  std::erase_if(unlogged_, [](const Unlogged& unlogged) {
    return unlogged.read.empty() && unlogged.owned.empty();
  });
}

void UnloggedAccesses::begin(const detector::CopyInfo& copy) {
  if (!is_on() || unlogged_.empty()) {
    return;
  }
  Ranges written, accessed;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.rows != 0 && rows.row_bytes != 0) {
      accessed.push_back(
          {.address = rows.address, .bytes = (rows.rows - 1) * rows.pitch + rows.row_bytes});
      if (rows.is_written) {
        written.push_back(accessed.back());
      }
    }
  }
  hold_against(copy.id, {.written = written, .accessed = accessed});
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
