// The files of `--dot` and `--svg`: witnesses as one graph.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "cli/explore_result.h"

namespace barracuda::cli {

class WitnessGraphs {
 public:
  // Empty names: no such file.
  WitnessGraphs(std::string dot, std::string svg) : dot_(std::move(dot)), svg_(std::move(svg)) {}

  // Before the search: begins the files. Errors: one cannot be written, or there is no Graphviz.
  [[nodiscard]] Expected<void> begin() const;
  // Says so of a result that has no graph.
  void add(const ExploreResult& result);
  [[nodiscard]] Expected<void> write() const;

 private:
  std::string dot_, svg_;
  std::vector<memory_model::NamedGraph> graphs_;
};

}  // namespace barracuda::cli
