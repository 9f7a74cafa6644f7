// One thread of a literal kernel, instruction by instruction.
#pragma once

#include <vector>

#include "base/expected.h"
#include "ptx/analysis/label_scopes.h"
#include "ptx/analysis/literal_places.h"
#include "ptx/analysis/register_numbers.h"
#include "ptx/literal_kernel.h"
#include "ptx/module.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

// What is known of the kernel before any thread runs. Module and function must outlive it.
struct LiteralParts {
  LiteralParts(const Module& module_given, const Function& entry, LiteralLaunch launch_given,
               LiteralPlaces places_given);

  const Module& module;
  const Function& function;
  LiteralLaunch launch;
  LiteralPlaces places;
  RegisterNumbers registers;
  LabelScopes labels;
  LiveRegisters live;
  std::vector<Effect> effects;  // by statement of the body
};

// As LiteralKernel::line_of().
std::uint32_t line_of(const LiteralParts& parts, std::size_t statement);

// As LiteralKernel::next() and give().
Expected<LiteralStep> next_step(const LiteralParts& parts, LiteralThread& thread);
void take_values(const LiteralParts& parts, LiteralThread& thread,
                 const std::vector<LiteralValue>& values);

}  // namespace barracuda::ptx
