// Loads of a shared variable from which all threads of a block get the same: all come from a
// barrier of the whole block, and up to the next one nobody writes the variable. So one thread
// tells the others what they all do next (`if (amLast)` behind a ticket).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/control_flow.h"
#include "ptx/module.h"

namespace barracuda::ptx {

class SteadyLoads {
 public:
  SteadyLoads(const Module& module, const Function& function, const ControlFlow& flow);

  // The barriers that may be the last before a load: if all threads come to each of them together,
  // they get the same. Null if they may get something else all the same.
  [[nodiscard]] const std::vector<std::size_t>* barriers_before(std::size_t load) const;

 private:
  boost::unordered_flat_map<std::size_t, std::vector<std::size_t>> barriers_;
};

}  // namespace barracuda::ptx
