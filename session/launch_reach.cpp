#include "session/launch_reach.h"

#include <cstdint>
#include <vector>

#include "base/align.h"
#include "device_logger/unlogged_memory.h"

namespace barracuda::session {
namespace {

// What an access of known address may touch; nothing if it repeats with a loop's counter, of which
// the last value is not known.
std::optional<MemoryRange> interval_of(const ptx::GlobalAccess& access,
                                       const AffineAddresses& addresses) {
  if (!access.form || !addresses.values[*access.form] ||
      addresses.values[*access.form]->step_count != 0) {
    return std::nullopt;
  }
  const AffineAddress& address = *addresses.values[*access.form];
  std::int64_t first = 0;
  bool is_wrong = __builtin_add_overflow(address.constant, access.offset, &first);
  std::int64_t last = first;
  for (std::size_t part = 0; part < address.factors.size(); ++part) {
    const std::int64_t steps = addresses.extents[part] == 0 ? 0 : addresses.extents[part] - 1;
    std::int64_t way = 0;
    is_wrong = __builtin_mul_overflow(address.factors[part], steps, &way) || is_wrong;
    std::int64_t& end = way < 0 ? first : last;
    is_wrong = __builtin_add_overflow(end, way, &end) || is_wrong;
  }
  if (is_wrong || first < 0) {
    return std::nullopt;
  }
  // Of what is watched, ranges begin and end at such multiples.
  const std::uint64_t begin =
      align_down(static_cast<std::uint64_t>(first), std::uint64_t{wire::kWatchedAlignment});
  const std::uint64_t end = align_up(static_cast<std::uint64_t>(last) + access.bytes,
                                     std::uint64_t{wire::kWatchedAlignment});
  return MemoryRange{.address = begin, .bytes = end - begin};
}

struct Reached {
  MemoryRange allocation, part;
};

void add(std::vector<Reached>& reached, const MemoryRange& allocation, const MemoryRange& part) {
  if (part.bytes == 0) {
    return;
  }
  for (Reached& known : reached) {
    if (known.allocation.address == allocation.address) {
      known.part = hull(known.part, part);
      return;
    }
  }
  reached.push_back({.allocation = allocation, .part = part});
}

}  // namespace

std::optional<MemoryRanges> find_reach(const KnownLaunch& launch,
                                       const AllocationTable& allocations) {
  const ptx::GlobalAccesses& accesses = launch.kernel.accesses;
  if (!accesses.are_known || launch.arguments.empty()) {
    return std::nullopt;
  }
  const AffineAddresses addresses =
      evaluate(accesses.nodes, {.parameters = launch.kernel.parameters,
                                .arguments = launch.arguments,
                                .extents = launch.extents});
  std::vector<Reached> reached;
  for (const ptx::GlobalAccess& access : accesses.accesses) {
    if (!access.leads.is_known) {
      return std::nullopt;
    }
    const std::optional<MemoryRange> interval = interval_of(access, addresses);
    if (interval && interval->bytes != 0) {  // it may lead out of its array into another
      for (const std::uint64_t end : {interval->address, end_of(*interval) - 1}) {
        if (const auto allocation = allocations.allocation_with(end)) {
          add(reached, *allocation, common_part(*interval, *allocation));
        }
      }
    }
    for (const ptx::ArgumentWord& word : access.leads.arguments) {
      const std::uint64_t pointer = argument_word(launch.kernel, launch.arguments, word);
      const auto behind = allocations.allocation_with(pointer);
      const auto before = allocations.allocation_with(pointer - 1);
      if (pointer != 0 && !behind && !before) {
        return std::nullopt;
      }
      for (const auto& allocation : {behind, before}) {
        if (allocation && pointer != 0) {
          add(reached, *allocation, interval ? common_part(*interval, *allocation) : *allocation);
        }
      }
    }
  }
  MemoryRanges parts;
  for (const Reached& each : reached) {
    parts.push_back(each.part);
  }
  return parts;
}

MemoryRange part_in_reach(const MemoryRange& allocation, const MemoryRanges& reach) {
  MemoryRange found;
  for (const MemoryRange& range : reach) {
    const MemoryRange part = common_part(range, allocation);
    if (part.bytes != 0) {
      found = found.bytes == 0 ? part : hull(found, part);
    }
  }
  return found;
}

MemoryRanges parts_in_reach(const MemoryRanges& allocations, const MemoryRanges& reach) {
  MemoryRanges parts;
  for (const MemoryRange& allocation : allocations) {
    if (const MemoryRange part = part_in_reach(allocation, reach); part.bytes != 0) {
      parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace barracuda::session
