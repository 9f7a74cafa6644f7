// An execution as a graph, for people: a line an event, and for Graphviz.
#pragma once

#include <string>
#include <vector>

#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/ptx_axioms.h"

namespace barracuda::memory_model {

std::vector<std::string> graph_lines(const LitmusTest& test, const std::vector<Event>& events,
                                     const Consistent& execution);
Graph graph_of(const LitmusTest& test, const std::vector<Event>& events,
               const Consistent& execution);

struct NamedGraph {
  std::string name;
  Graph graph;
};

// One digraph of them all, each in a box of its own if there are several.
std::string dot_text(const std::vector<NamedGraph>& graphs);

}  // namespace barracuda::memory_model
