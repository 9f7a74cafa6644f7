// Text that a pass puts between the statements of a module.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ptx/module.h"

namespace barracuda::ptx {

struct Insertion {
  std::size_t position;  // before this statement
  std::string text;      // without the last line's end
};

// Makes all of them, those of one position in their order, and finds the functions again.
void apply_insertions(Module& module, std::vector<Insertion> insertions);

}  // namespace barracuda::ptx
