#include "cli/witness_graphs.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/child_process.h"
#include "cli/complain.h"
#include "cli/environment.h"
#include "cli/program_file.h"
#include "cli/run_directory.h"

namespace barracuda::cli {
namespace {

Expected<void> draw(const std::string& text, const std::string& svg) {
  TRY(const RunDirectory directory, RunDirectory::create());
  const std::string dot = directory.file("witness.dot");
  if (auto written = write_file(dot, text); !written) {
    return written;
  }
  auto child = ChildProcess::start({"dot", "-Tsvg", dot, "-o", svg}, current_environment());
  if (!child) {
    return unexpected({.message = child.error().message});
  }
  if (const int status = child->wait([] {}); status != 0) {
    return unexpected(
        {.message = fmt::format("Graphviz's dot failed with status {}", status), .file = svg});
  }
  return {};
}

}  // namespace

Expected<void> WitnessGraphs::begin() const {
  if (!svg_.empty() && find_program("dot").empty()) {
    return unexpected({.message = "--svg needs Graphviz: install it, so that 'dot' is in PATH, or "
                                  "write the graph with --dot"});
  }
  for (const std::string& file : {dot_, svg_}) {
    if (auto begun = write_if_named(file, ""); !begun) {
      return begun;
    }
  }
  return {};
}

void WitnessGraphs::add(const ExploreResult& result) {
  if (dot_.empty() && svg_.empty()) {
    return;
  }
  const auto* const witness = result.witness();
  if (witness != nullptr && !witness->graph.nodes.empty()) {
    graphs_.push_back({.name = result.test.name, .graph = witness->graph});
    return;
  }
  const std::string why = witness == nullptr ? "there is no witness"
                                             : fmt::format("a witness of model {} is steps",
                                                           memory_model::name_of(result.model));
  complain(fmt::format("{}: no graph is written, for {}", result.file, why));
}

Expected<void> WitnessGraphs::write() const {
  if (graphs_.empty()) {
    return {};
  }
  const std::string text = memory_model::dot_text(graphs_);
  if (auto written = write_if_named(dot_, text); !written) {
    return written;
  }
  return svg_.empty() ? Expected<void>() : draw(text, svg_);
}

}  // namespace barracuda::cli
