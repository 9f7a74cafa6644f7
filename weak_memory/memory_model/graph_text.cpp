#include "weak_memory/memory_model/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.h"
#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;

std::string letter(std::size_t event) {
  std::string name(1, static_cast<char>('a' + event % 26));
  return event < 26 ? name : name + std::to_string(event / 26);
}

// As a string of DOT.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    made += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return made + '"';
}

std::string event_text(const LitmusTest& test, const Event& event) {
  if (event.kind == Kind::kInitial) {
    return fmt::format("initially {}={}", location_name(test, event.location),
                       static_cast<std::int64_t>(event.value));
  }
  const std::string text = fmt::format("{} {}", test.threads[event.thread],
                                       instruction_text(test, event.thread, *event.instruction));
  if (event.kind == Kind::kRead || event.kind == Kind::kWrite) {
    return fmt::format("{}: {} {}", text, event.kind == Kind::kRead ? "reads" : "writes",
                       static_cast<std::int64_t>(event.value));
  }
  return text;
}

// What a relation has from an event, without what follows from two of its pairs.
std::vector<std::size_t> next_in(const Relation& relation, std::size_t event, std::size_t events) {
  std::vector<std::size_t> found;
  const Relation longer = relation.then(relation);
  for (std::size_t j = 0; j < events; ++j) {
    if (relation.has(event, j) && !longer.has(event, j)) {
      found.push_back(j);
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> graph_lines(const LitmusTest& test, const std::vector<Event>& events,
                                     const Consistent& execution) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::kInitial) {
      continue;
    }
    std::string line = fmt::format("{}: {}", letter(i), event_text(test, events[i]));
    if (events[i].kind == Kind::kRead) {
      const std::size_t source = execution.source[i];
      line += events[source].kind == Kind::kInitial ? ", from the beginning"
                                                    : fmt::format(", from {}", letter(source));
    }
    const auto add = [&](const Relation& relation, std::string_view word) {
      for (const std::size_t other : next_in(relation, i, events.size())) {
        line += fmt::format(", {} {}", word, letter(other));
      }
    };
    add(execution.coherence, "co before");
    add(execution.sync, "synchronizes with");
    add(execution.fence_sc, "fence-sc before");
    lines.push_back(std::move(line));
  }
  return lines;
}

Graph graph_of(const LitmusTest& test, const std::vector<Event>& events,
               const Consistent& execution) {
  Graph graph;
  const auto edge = [&](std::size_t from, std::size_t to, const char* label) {
    graph.edges.push_back({.from = from, .to = to, .label = label});
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    graph.nodes.push_back(fmt::format("{}: {}", letter(i), event_text(test, events[i])));
    if (i != 0 && events[i].kind != Kind::kInitial && events[i - 1].kind != Kind::kInitial &&
        events[i].thread == events[i - 1].thread) {
      edge(i - 1, i, "po");
    }
    if (events[i].kind == Kind::kRead) {
      edge(execution.source[i], i, "rf");
    }
    for (const std::size_t other : next_in(execution.coherence, i, events.size())) {
      edge(i, other, "co");
    }
    for (const std::size_t other : next_in(execution.sync, i, events.size())) {
      edge(i, other, "sync");
    }
    for (const std::size_t other : next_in(execution.fence_sc, i, events.size())) {
      edge(i, other, "fence-sc");
    }
  }
  return graph;
}

std::string dot_text(const std::vector<NamedGraph>& graphs) {
  ASSERT(!graphs.empty());
  const bool has_boxes = graphs.size() > 1;
  std::string dot = fmt::format("digraph {} {{\n  node [shape=box];\n",
                                quoted(has_boxes ? "explore" : graphs.front().name));
  for (std::size_t number = 0; number < graphs.size(); ++number) {
    const auto& [name, graph] = graphs[number];
    const std::string prefix = has_boxes ? fmt::format("g{}e", number) : "e";
    dot += has_boxes ? fmt::format("  subgraph cluster{} {{\n  label={};\n", number, quoted(name))
                     : "";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      dot += fmt::format("  {}{} [label={}];\n", prefix, i, quoted(graph.nodes[i]));
    }
    for (const Graph::Edge& edge : graph.edges) {
      dot += fmt::format("  {0}{1} -> {0}{2} [label={3}];\n", prefix, edge.from, edge.to,
                         quoted(edge.label));
    }
    dot += has_boxes ? "  }\n" : "";
  }
  return dot + "}\n";
}

}  // namespace barracuda::memory_model
