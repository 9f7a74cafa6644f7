// Immediate dominators of a graph (Cooper, Harvey, Kennedy). Post-dominators are the dominators of
// the reversed graph.
#pragma once

#include <cstdint>
#include <vector>

namespace barracuda::ptx {

using Graph = std::vector<std::vector<std::uint32_t>>;  // successors of each node

inline constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

// Per node; kNoNode for the root and for nodes that it does not reach.
std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root);

}  // namespace barracuda::ptx
