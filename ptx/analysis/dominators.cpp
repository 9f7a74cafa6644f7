#include "ptx/analysis/dominators.h"

#include <cstddef>
#include <utility>

#include "base/assert.h"

namespace barracuda::ptx {

namespace {

// Nodes in post-order of a depth-first visit, without recursion: functions have long chains.
std::vector<std::uint32_t> post_order(const Graph& graph, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == graph[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t successor = graph[node][next++];
    if (!seen[successor]) {
      seen[successor] = true;
      stack.emplace_back(successor, 0);
    }
  }
  return order;
}

class DominatorTree {
 public:
  DominatorTree(const Graph& graph, std::uint32_t root)
      : order_(post_order(graph, root)),
        number_(graph.size(), kNoNode),
        dominators_(graph.size(), kNoNode),
        predecessors_(graph.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      number_[order_[i]] = static_cast<std::uint32_t>(i);
    }
    for (const std::uint32_t node : order_) {
      for (const std::uint32_t successor : graph[node]) {
        predecessors_[successor].push_back(node);
      }
    }
    dominators_[root] = root;
  }

  std::vector<std::uint32_t> compute() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = order_.size() - 1; i-- > 0;) {
        changed |= update(order_[i]);
      }
    }
    dominators_[order_.back()] = kNoNode;
    return std::move(dominators_);
  }

 private:
  bool update(std::uint32_t node) {
    std::uint32_t dominator = kNoNode;
    for (const std::uint32_t predecessor : predecessors_[node]) {
      if (dominators_[predecessor] != kNoNode) {
        dominator = dominator == kNoNode ? predecessor : intersect(predecessor, dominator);
      }
    }
    return std::exchange(dominators_[node], dominator) != dominator;
  }

  std::uint32_t intersect(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (number_[a] < number_[b]) {
        a = dominators_[a];
      }
      while (number_[b] < number_[a]) {
        b = dominators_[b];
      }
    }
    return a;
  }

  std::vector<std::uint32_t> order_;   // post-order: the root is last
  std::vector<std::uint32_t> number_;  // in that order
  std::vector<std::uint32_t> dominators_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root) {
  ASSERT(root < graph.size());
  std::vector<std::uint32_t> dominators = DominatorTree(graph, root).compute();
  ASSERT(dominators.size() == graph.size() && dominators[root] == kNoNode);
  return dominators;
}

}  // namespace barracuda::ptx
