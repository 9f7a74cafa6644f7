// Which accesses of a launch need not be logged: plain reads of memory that it does not write, and
// what it does to memory each byte of which one of its threads alone accesses; and whether anything
// that is put beside such a launch afterwards may conflict with them
// (docs/decisions/device-filter.md). What would then be missing is reported as a problem, and from
// then on everything is logged. Not thread-safe: its owner serialises.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device_logger/unlogged_memory.h"
#include "host_detector/copy.h"
#include "host_detector/launch.h"
#include "ptx/instrument.h"
#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/memory_ranges.h"
#include "session/problems.h"
#include "session/stream_tracker.h"
#include "session/works_beside.h"

namespace barracuda::session {

class UnloggedAccesses {
 public:
  // " (its kernel)" of a launch.
  using Describe = std::function<std::string(detector::LaunchId)>;

  UnloggedAccesses(const Options& options, const AllocationTable& allocations,
                   StreamTracker& streams, Problems& problems, Describe describe);

  // Whether any launch of a process with these options may leave accesses out.
  [[nodiscard]] static bool are_wanted(const Options& options);

  [[nodiscard]] bool is_on() const { return is_wanted_ && !is_given_up_; }

  // One that has its place in the order.
  struct BegunLaunch {
    detector::LaunchId id{};
    detector::StreamKey stream{};
    const ptx::Kernel& kernel;
    std::vector<std::byte> arguments;      // packed; empty: not known
    std::vector<MemoryRange> variables{};  // of each that the kernel names; no bytes: not known
    bool is_programmatic = false, may_begin_early = false;  // as LaunchTracker has it
    detector::Dim3 grid, block;
    bool is_repeated = false;                            // does what one did that was checked
    std::uint64_t most_owner_bytes = ~std::uint64_t{0};  // StateMemory's
  };

  // What its descriptor says, and its hidden argument.
  struct LeftOut {
    wire::UnloggedMemory memory;
    wire::OwnedSites sites;
    bool is_whole = false;  // all that the launch does, which is repeated
    // Of the guarded form.
    std::array<wire::UnloggedRange, wire::kShortcuts> shortcuts{};

    // Of the logging form, which goes on where an access is in none: whole, as kMostShortcutBytes
    // has it.
    [[nodiscard]] std::array<wire::UnloggedRange, wire::kShortcuts> whole_shortcuts() const;
    // Whether the kernel's guarded form does all that this launch has to.
    [[nodiscard]] bool is_all_of(const ptx::Kernel& kernel) const;
  };

  // Holds the launch against those before it, and gives what of its own accesses stays unlogged.
  LeftOut begin(const BegunLaunch& launch);

  // The same for a kernel of a graph that is a chain. All of the graph's work has its place by now.
  LeftOut begin_in_chain(const BegunLaunch& launch) { return begin(launch, true); }

  // One of any other graph: logged as a whole.
  void begin(detector::LaunchId id);
  void begin(const detector::CopyInfo& copy);
  // It is over. `unlogged`: what begin() gave, with what the device made of it.
  void end(detector::LaunchId id, const wire::UnloggedMemory& unlogged);

  // Launches that filter=auto has logged as a whole and filter=on would not: other work might have
  // joined them.
  [[nodiscard]] std::uint64_t unforeseen_launches() const { return unforeseen_; }

 private:
  // What launches that come one after the other left out, of which this is the newest.
  struct Unlogged {
    detector::LaunchId id{};
    MemoryRanges read;   // and nothing else
    MemoryRanges owned;  // written as well, or watched
    bool lets_dependents_begin = false;

    [[nodiscard]] bool has_same(const Unlogged& other) const;
  };

  // The allocations that a launch may write, and those of them that decide which reads it logs.
  struct Written {
    MemoryRanges maybe, likely;
  };

  enum class Why : std::uint8_t { kUnwritten, kOwned, kWatched };

  // An allocation or a variable, what of it a launch leaves out, and by which accesses if owned.
  struct Range {
    MemoryRange whole, part;
    std::vector<const ptx::GlobalAccess*> accesses;
    Why why = Why::kUnwritten;
  };

  LeftOut begin(const BegunLaunch& launch, bool is_after_all);
  // filter=auto: one that logs so little that nothing need stay unlogged. A program that starts
  // work and forgets to wait for it is small, most often, when its author first tries it; what was
  // left out of its only launch could not be checked against the copy that comes too early.
  [[nodiscard]] bool is_brief(const BegunLaunch& launch);
  [[nodiscard]] std::optional<Written> written_by(const BegunLaunch& launch) const;
  [[nodiscard]] MemoryRanges read_only(const BegunLaunch& launch,
                                       const MemoryRanges& written) const;
  [[nodiscard]] MemoryRanges watched(const BegunLaunch& launch, const MemoryRanges& written) const;
  [[nodiscard]] TouchedMemory touched_by(const BegunLaunch& launch,
                                         const std::optional<Written>& written,
                                         const std::optional<MemoryRanges>& reach) const;
  [[nodiscard]] std::vector<Range> left_out_of(const BegunLaunch& launch,
                                               const MemoryRanges& written,
                                               const std::optional<MemoryRanges>& reach) const;

  // In the descriptor's order.
  static std::pair<Why, std::uint64_t> place_of(const Range& range) {
    return {range.why, range.part.address};
  }

  static void join_neighbours(std::vector<Range>& ranges, const MemoryRanges& written);
  LeftOut leave_out(const BegunLaunch& launch, const MemoryRanges& written,
                    const std::optional<MemoryRanges>& reach);
  // All that a repeated launch does, where it is known what memory that is of.
  bool leave_out_whole(const BegunLaunch& launch, const MemoryRanges& written,
                       const std::optional<MemoryRanges>& reach);
  // Those that a shortcut leads to, if all its accesses are left out there; else nothing.
  [[nodiscard]] static wire::UnloggedRange range_of(const ptx::Shortcut& shortcut,
                                                    const BegunLaunch& launch,
                                                    const LeftOut& left_out,
                                                    std::span<const Range> ranges);
  // `may_begin_early`: it may be beside what lets it begin, and is after all others of its stream.
  void hold_against(detector::WorkId work, const TouchedMemory& touched,
                    bool may_begin_early = false);
  // Whether launches that depend on this one are likely to wait for it, as those so far did.
  [[nodiscard]] bool will_be_waited_for(const BegunLaunch& launch) const;
  void end_life(const MemoryRange& range, detector::WorkId free);
  // False if there is no room for it.
  bool keep(Unlogged kept);
  void give_up(const std::string& reason);

  const bool is_wanted_;
  const bool foresees_;  // filter=auto
  const AllocationTable& allocations_;
  StreamTracker& streams_;
  Problems& problems_;
  const Describe describe_;
  bool is_given_up_ = false;
  std::vector<Unlogged> unlogged_;
  WorksBeside beside_;
  std::uint64_t unforeseen_ = 0;     // launches, so far
  std::uint64_t brief_records_ = 0;  // of brief ones, so far
  std::uint64_t waited_first_ = 0;   // programmatic launches that did, since one did not
};

// Of all ranges that are watched.
[[nodiscard]] std::uint64_t watched_bytes(const wire::UnloggedMemory& memory);

}  // namespace barracuda::session
