// An execution as a graph, for people: a line an event, or for Graphviz.
#pragma once

#include <string>
#include <vector>

#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/ptx_axioms.h"

namespace barracuda::memory_model {

std::vector<std::string> graph_lines(const LitmusTest& test, const std::vector<Event>& events,
                                     const Consistent& execution);
std::string graph_dot(const LitmusTest& test, const std::vector<Event>& events,
                      const Consistent& execution);

}  // namespace barracuda::memory_model
