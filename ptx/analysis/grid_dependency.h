// Programmatic dependent launches (PTX ISA, "griddepcontrol"): what a kernel does about the launch
// that it depends on, and about those that depend on it.
#pragma once

#include <cstdint>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// Whether a launch of the entry may let others of its stream begin before it is over.
[[nodiscard]] bool lets_dependents_begin(const Program& program, std::uint32_t entry);

// Whether each thread waits for what the launch depends on before it touches memory that others may
// see, or calls anything: then a programmatic launch comes after what is before it in its stream as
// any other does.
[[nodiscard]] Expected<bool> waits_first(Program& program, std::uint32_t entry);

}  // namespace barracuda::ptx
