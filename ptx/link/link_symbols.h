// The names at module scope of several units: who defines each, who merely declares it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// One function or variable of one unit.
struct LinkSymbol {
  std::string_view name;
  std::size_t unit = 0;
  std::size_t statement = 0;  // the header, or the declaration of the variable
  const Function* function = nullptr;
  const Variable* variable = nullptr;
  bool is_definition = false;
  bool is_local = false;  // not seen by other units
  bool is_weak = false;   // another definition may stand for it
  bool is_referenced = false;
};

// All of a unit, in the order of its text.
std::vector<LinkSymbol> read_symbols(const Module& module, std::size_t unit);

// The definition that each global name has in the linked module. Error: two that both insist.
using Definitions = boost::unordered_flat_map<std::string_view, const LinkSymbol*>;
Expected<Definitions> choose_definitions(const std::vector<std::vector<LinkSymbol>>& units);

// Error: a function or variable that is used and defined nowhere, unless the driver provides it.
Expected<void> check_resolved(const std::vector<std::vector<LinkSymbol>>& units,
                              const Definitions& definitions);

}  // namespace barracuda::ptx
