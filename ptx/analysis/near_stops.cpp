#include "ptx/analysis/near_stops.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace barracuda::ptx {

NearStops::NearStops(const ControlFlow& flow, std::vector<Stop> stops)
    : flow_(flow),
      stops_(std::move(stops)),
      ahead_(flow.blocks.size()),
      behind_(flow.blocks.size()) {
  const auto count = static_cast<std::uint32_t>(flow.blocks.size());
  for (bool changes = true; changes;) {
    changes = false;
    for (std::uint32_t i = count; i-- > 0;) {
      const bool lie = lie_ahead(flow.blocks[i].begin, flow.blocks[i]);
      changes = changes || lie != ahead_[i];
      ahead_[i] = lie;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool lie = lie_behind(flow.blocks[i].end, i);
      for (const std::uint32_t next : flow.blocks[i].successors) {
        changes = changes || (lie && !behind_[next]);
        behind_[next] = behind_[next] || lie;
      }
    }
  }
}

bool NearStops::come_before(std::size_t statement) const {
  return lie_behind(statement, flow_.block_of(statement));
}

bool NearStops::come_after(std::size_t statement) const {
  return lie_ahead(statement + 1, flow_.blocks[flow_.block_of(statement)]);
}

bool NearStops::lie_ahead(std::size_t begin, const BasicBlock& block) const {
  const auto stop = std::ranges::lower_bound(stops_, begin, {}, &Stop::statement);
  if (stop != stops_.end() && stop->statement < block.end) {
    return stop->is_meant;
  }
  return std::ranges::any_of(block.successors, [&](std::uint32_t next) { return ahead_[next]; });
}

bool NearStops::lie_behind(std::size_t end, std::uint32_t block) const {
  const auto past = std::ranges::lower_bound(stops_, end, {}, &Stop::statement);
  if (past != stops_.begin() && std::prev(past)->statement >= flow_.blocks[block].begin) {
    return std::prev(past)->is_meant;
  }
  return behind_[block];
}

}  // namespace barracuda::ptx
