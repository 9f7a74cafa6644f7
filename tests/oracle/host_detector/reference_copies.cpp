// The reference's copies and memsets by the host: accesses of a component of their own that has a
// place among the launches (RACE_RULES.md section 1, launches).
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

// What a stream orders like a launch is one: of one thread, which makes the copies that share its
// number one after another.
void ReferenceDetector::apply(const detector::CopyInfo& copy) {
  static constexpr wire::SiteInfo kRead{.operation = wire::Operation::kRead};
  static constexpr wire::SiteInfo kWrite{.operation = wire::Operation::kWrite};
  ++instruction_;
  const auto id = static_cast<std::uint32_t>(copy.id);
  const Thread host{id, 0, 0, 0};
  if (!launches_.contains(id)) {
    detector::LaunchInfo place{.id = copy.id};
    place.ordered_after = copy.ordered_after;
    begin_launch(place);
    threads_.at(host).is_alive = false;
  }
  const std::uint64_t now = ++threads_.at(host).clock[host];
  for (const detector::MemoryRows& rows : copy.accesses) {
    Access access{.instruction = instruction_,
                  .site = rows.is_written ? &kWrite : &kRead,
                  .site_id = static_cast<std::uint32_t>(detector::call_site(copy.call)),
                  .thread = host,
                  .time = now,
                  .clock = threads_.at(host).clock,
                  .space = std::nullopt,
                  .size = static_cast<std::uint32_t>(rows.row_bytes),
                  .reads = !rows.is_written,
                  .writes = rows.is_written,
                  .rows = rows};
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      access.address = rows.address + row * rows.pitch;
      for (std::size_t older = 0; older < accesses_.size(); ++older) {
        check(accesses_[older], access);
      }
      accesses_.push_back(access);
    }
  }
}

}  // namespace barracuda::oracle
