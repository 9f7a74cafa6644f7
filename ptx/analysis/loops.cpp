#include "ptx/analysis/loops.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace barracuda::ptx {
namespace {

// What a back edge from `from` goes round.
void add_way(const ControlFlow& flow, std::uint32_t from, Loop& loop) {
  std::vector<std::uint32_t> waiting{from};
  while (!waiting.empty()) {
    const std::uint32_t block = waiting.back();
    waiting.pop_back();
    if (!loop.contains[block]) {
      loop.contains[block] = true;
      const std::vector<std::uint32_t>& before = flow.blocks[block].predecessors;
      waiting.insert(waiting.end(), before.begin(), before.end());
    }
  }
}

}  // namespace

std::vector<Loop> find_ways_round(const ControlFlow& flow) {
  std::vector<Loop> ways;
  for (std::uint32_t head = 0; head < flow.blocks.size(); ++head) {
    for (const std::uint32_t from : flow.blocks[head].predecessors) {
      if (flow.dominates(head, from)) {
        ways.push_back({.head = head, .contains = std::vector<bool>(flow.blocks.size())});
        ways.back().contains[head] = true;
        add_way(flow, from, ways.back());
      }
    }
  }
  return ways;
}

std::vector<Loop> find_loops(const ControlFlow& flow) {
  std::vector<Loop> loops;
  for (Loop& way : find_ways_round(flow)) {
    if (loops.empty() || loops.back().head != way.head) {
      loops.push_back(std::move(way));
      continue;
    }
    for (std::size_t block = 0; block < way.contains.size(); ++block) {
      loops.back().contains[block] = loops.back().contains[block] || way.contains[block];
    }
  }
  std::ranges::stable_sort(loops, std::ranges::greater{}, [](const Loop& loop) {
    return std::ranges::count(loop.contains, true);
  });
  return loops;
}

}  // namespace barracuda::ptx
