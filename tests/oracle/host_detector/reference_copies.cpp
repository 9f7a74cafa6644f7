// The reference's copies and memsets by the host: accesses of a component of their own that has a
// place among the launches (RACE_RULES.md section 1, launches).
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

namespace {

template <typename Act>
void for_each_byte(const detector::MemoryRows& range, const Act& act) {
  for (std::uint64_t byte = range.address; byte < range.address + range.row_bytes; ++byte) {
    act(byte);
  }
}

}  // namespace

// A malloc has given the bytes to a thread: what was done with them before is over.
void ReferenceDetector::renew(std::uint64_t address, std::uint64_t bytes) {
  for (Access& access : accesses_) {
    for (std::uint64_t byte = address; byte < address + bytes && !access.space; ++byte) {
      access.given_away.insert(byte);
    }
  }
  std::erase_if(locations_, [&](const auto& place) {
    const auto& [space, start, size] = place.first;
    return !space && start < address + bytes && address < start + size;
  });
}

// What is ordered before a free ends with it. If that is all, nobody synchronises there any more.
void ReferenceDetector::end_life(const detector::MemoryRows& range, const Thread& free) {
  bool is_used = false;
  for (Access& access : accesses_) {
    const bool is_over =
        access.thread == free ||
        (access.completion ? is_known(*access.completion, access.completion_time, free)
                           : is_before(access.thread, access.time, free)) ||
        was_observed(access, free);
    for_each_byte(range, [&](std::uint64_t byte) {
      if (access.space || !access.holds(byte)) {
        return;
      }
      if (is_over) {
        access.given_away.insert(byte);
      }
      is_used = is_used || (!is_over && !access.rows);
    });
  }
  std::erase_if(locations_, [&](const auto& place) {
    const auto& [space, address, size] = place.first;
    return !is_used && !space && address < range.address + range.row_bytes &&
           range.address < address + size;
  });
}

// The allocator knows that whoever freed the bytes has done so.
void ReferenceDetector::give_way(const detector::MemoryRows& range,
                                 detector::HostOperation operation) {
  for (Access& access : accesses_) {
    for_each_byte(range, [&](std::uint64_t byte) {
      if (access.operation == operation && access.holds(byte)) {
        access.given_away.insert(byte);
      }
    });
  }
}

// What a stream orders like a launch is one: of one thread, which makes the copies that share its
// number one after another.
void ReferenceDetector::apply(const detector::CopyInfo& copy) {
  static constexpr wire::SiteInfo kRead{.operation = wire::Operation::kRead};
  static constexpr wire::SiteInfo kWrite{.operation = wire::Operation::kWrite};
  ++instruction_;
  const std::uint32_t id = number_of(copy.id);
  const Thread host{id, 0, 0, 0};
  if (!launches_.contains(id)) {
    detector::LaunchInfo place;
    place.ordered_after = copy.ordered_after;
    begin(id, place);
    threads_.at(host).is_alive = false;
  }
  const std::uint64_t now = ++threads_.at(host).clock[host];
  const bool is_allocation = copy.operation == detector::HostOperation::kAllocation;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (is_allocation) {
      give_way(rows, detector::HostOperation::kFree);
    } else if (copy.operation == detector::HostOperation::kFree) {
      give_way(rows, detector::HostOperation::kAllocation);
    }
    Access access{.instruction = instruction_,
                  .site = rows.is_written ? &kWrite : &kRead,
                  .site_id = detector::AccessSite(copy.call).packed(),
                  .thread = host,
                  .time = now,
                  .clock = threads_.at(host).clock,
                  .space = std::nullopt,
                  .size = static_cast<std::uint32_t>(rows.row_bytes),
                  .reads = !rows.is_written,
                  .writes = rows.is_written,
                  .rows = rows,
                  .operation = copy.operation};
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      access.address = rows.address + row * rows.pitch;
      for (std::size_t older = 0; older < accesses_.size() && !is_allocation; ++older) {
        check(accesses_[older], access);
      }
      if (access.operation == detector::HostOperation::kFree) {
        end_life(rows, host);
      }
      accesses_.push_back(access);
    }
  }
}

}  // namespace barracuda::oracle
