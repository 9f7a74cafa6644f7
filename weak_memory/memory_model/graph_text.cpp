#include "weak_memory/memory_model/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;

std::string letter(std::size_t event) {
  std::string name(1, static_cast<char>('a' + event % 26));
  return event < 26 ? name : name + std::to_string(event / 26);
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

std::string graph_dot(const LitmusTest& test, const std::vector<Event>& events,
                      const Consistent& execution) {
  std::string dot = fmt::format("digraph \"{}\" {{\n  node [shape=box];\n", test.name);
  const auto edge = [&](std::size_t from, std::size_t to, std::string_view name) {
    dot += fmt::format("  e{} -> e{} [label=\"{}\"];\n", from, to, name);
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    dot += fmt::format("  e{} [label=\"{}: {}\"];\n", i, letter(i), event_text(test, events[i]));
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
  return dot + "}\n";
}

}  // namespace barracuda::memory_model
