#include "weak_memory/environments.h"

#include <fmt/format.h>

namespace barracuda::weak_memory {

std::vector<Environment> environments(const std::vector<double>& probabilities, WithStress stress) {
  std::vector<Environment> plain;
  plain.reserve(probabilities.size());
  for (const double probability : probabilities) {
    plain.push_back({.name = fmt::format("delayed stores, p = {}", probability),
                     .weakness = {.stores = probability}});
  }
  const auto kinds = stress == WithStress::kYes
                         ? std::vector<std::string>{"tuned", "systematic", "random", "cache"}
                         : std::vector<std::string>();
  for (const std::string& kind : kinds) {
    plain.push_back({.name = kind + " stress", .weakness = {.stress = kind}});
  }
  std::vector<Environment> all;
  for (const Environment& environment : plain) {
    all.push_back(environment);
    all.push_back(environment);
    all.back().name += ", shuffled blocks";
    all.back().weakness.shuffled = true;
  }
  all.push_back({.name = "shuffled blocks", .weakness = {.shuffled = true}});
  return all;
}

}  // namespace barracuda::weak_memory
