#include "weak_memory/environments.h"

#include <fmt/format.h>

namespace barracuda::weak_memory {

std::vector<Environment> environments(const std::vector<double>& probabilities) {
  std::vector<Environment> plain;
  for (const double probability : probabilities) {
    plain.push_back({.name = fmt::format("delayed stores, p = {}", probability),
                     .weakness = {.stores = probability}});
  }
  for (const char* const stress : {"tuned", "systematic", "random", "cache"}) {
    plain.push_back({.name = fmt::format("{} stress", stress), .weakness = {.stress = stress}});
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
