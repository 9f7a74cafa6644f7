#include "session/unlogged_reads.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "base/strong_id.h"

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

}  // namespace

// A trace must hold what a detector of any options would ask for, and the paper's rules ask for
// each access.
UnloggedReads::UnloggedReads(const Options& options, const AllocationTable& allocations,
                             StreamTracker& streams, Problems& problems, Describe describe)
    : is_wanted_((options.filter == "auto" || options.filter == "on") && options.record.empty() &&
                 options.model != "paper"),
      foresees_(options.filter == "auto"),
      allocations_(allocations),
      streams_(streams),
      problems_(problems),
      describe_(std::move(describe)) {}

// Variables of modules are no allocations here: nobody's reads of them stay unlogged.
std::optional<UnloggedReads::Written> UnloggedReads::written_by(const BegunLaunch& launch) const {
  const ptx::GlobalWrites& writes = launch.kernel.writes;
  if (!writes.is_known || launch.arguments.empty()) {
    return std::nullopt;
  }
  Written written;
  for (const ptx::ArgumentWord& argument : writes.arguments) {
    const std::uint64_t pointer = word_at(
        launch.arguments, launch.kernel.parameters[argument.parameter].offset + argument.offset);
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
  return written;
}

// The allocations that an argument leads to. What is no pointer and looks like one does no harm.
UnloggedReads::Ranges UnloggedReads::read_only(const BegunLaunch& launch,
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
  if (found.size() > wire::kMostUnwrittenRanges) {
    std::ranges::sort(found, std::greater<>(), &MemoryRange::bytes);
    found.resize(wire::kMostUnwrittenRanges);
  }
  std::ranges::sort(found, {}, &MemoryRange::address);
  return found;
}

void UnloggedReads::give_up(const std::string& reason) {
  is_given_up_ = true;
  unlogged_.clear();
  problems_.add(reason + ": not checked (filter=off checks it). From here on all reads are logged");
}

// Each launch in the list came after all that had begun, so what is after one of them is after
// those before it as well.
void UnloggedReads::hold_against(WorkId work, const std::optional<Ranges>& written) {
  for (const Unlogged& unlogged : unlogged_) {
    if (streams_.is_before(unlogged.id, work) || (written && !overlap(unlogged.ranges, *written))) {
      continue;
    }
    const std::string reader = std::to_string(index_of(unlogged.id)) + describe_(unlogged.id);
    return give_up((work.is_copy() ? "a copy, memset or free"
                                   : "launch " + std::to_string(index_of(work.launch())) +
                                         describe_(work.launch())) +
                   " may write memory while launch " + reader + ", or one before it, reads it");
  }
}

void UnloggedReads::keep(LaunchId id, Ranges ranges) {
  const auto same = std::ranges::find_if(
      unlogged_, [&](const Unlogged& unlogged) { return are_equal(unlogged.ranges, ranges); });
  if (same != unlogged_.end()) {
    same->id = id;
    return;
  }
  if (unlogged_.size() == kMostUnlogged) {
    std::erase_if(unlogged_, [&](const Unlogged& old) { return streams_.host_waited_for(old.id); });
  }
  if (unlogged_.size() == kMostUnlogged) {  // what the oldest read, the next is said to have read
    Ranges& next = unlogged_[1].ranges;
    next.insert(next.end(), unlogged_[0].ranges.begin(), unlogged_[0].ranges.end());
    unlogged_[1].id = std::max(unlogged_[0].id, unlogged_[1].id);
    unlogged_.erase(unlogged_.begin());
  }
  unlogged_.push_back({.id = id, .ranges = std::move(ranges)});
}

wire::UnwrittenMemory UnloggedReads::begin(const BegunLaunch& launch) {
  if (!is_on()) {
    return {};
  }
  const std::optional<Written> written = written_by(launch);
  // Who lets dependents begin is logged (analysis/global_writes.cpp). All others are over when one
  // of the same stream begins, programmatic or not.
  if (!launch.is_programmatic || !streams_.has_no_rival(launch.stream)) {
    hold_against(launch.id, written ? std::optional(written->maybe) : std::nullopt);
  }
  if (!is_on() || !written || launch.is_programmatic || !streams_.is_after_all(launch.id) ||
      (foresees_ && !streams_.has_no_rival(launch.stream))) {
    return {};
  }
  Ranges ranges = read_only(launch, written->likely);
  wire::UnwrittenMemory unwritten;
  for (const MemoryRange& range : ranges) {
    unwritten.ranges[unwritten.count++] = {.address = range.address, .bytes = range.bytes};
  }
  if (unwritten.count != 0) {
    keep(launch.id, std::move(ranges));
  }
  return unwritten;
}

void UnloggedReads::begin(LaunchId id) {
  if (is_on()) {
    hold_against(id, std::nullopt);
  }
}

// What a free in the order of a stream comes after ends with it (RACE_RULES section 1).
void UnloggedReads::end_life(const MemoryRange& range, WorkId free) {
  for (Unlogged& unlogged : unlogged_) {
    if (streams_.is_before(unlogged.id, free)) {
      std::erase_if(unlogged.ranges, [&](const MemoryRange& read) { return overlap(read, range); });
    }
  }
  std::erase_if(unlogged_, [](const Unlogged& unlogged) { return unlogged.ranges.empty(); });
}

void UnloggedReads::begin(const detector::CopyInfo& copy) {
  if (!is_on() || unlogged_.empty()) {
    return;
  }
  Ranges written;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.is_written && rows.rows != 0 && rows.row_bytes != 0) {
      written.push_back(
          {.address = rows.address, .bytes = (rows.rows - 1) * rows.pitch + rows.row_bytes});
    }
  }
  if (!written.empty()) {
    hold_against(copy.id, written);
    if (copy.operation == detector::HostOperation::kFree) {
      end_life(written.front(), copy.id);
    }
  }
}

void UnloggedReads::end(LaunchId id, const wire::UnwrittenMemory& unwritten) {
  if (unwritten.written != 0 && is_on()) {
    give_up("launch " + std::to_string(index_of(id)) + describe_(id) +
            " wrote memory that none of its pointers to write leads to, and may have read it");
  }
}

}  // namespace barracuda::session
