// PTX text → Module. Accepts PTX ISA up to 9.0 as nvcc 13 writes it, and what ptxas accepts beyond
// (PTX.md section 4). Knows no opcodes: an unknown instruction parses like any other. Never crashes
// on any bytes; the first error is returned with line and column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

Expected<Module> parse(std::string text);

// How many modules this process has parsed.
std::uint64_t parsed_modules();

// Parses a snippet of statements (as they may stand in a function body) whose text `module` keeps;
// for passes that insert code. Positions are 0.
Expected<std::vector<Statement>> parse_statements(Module& module, std::string text);

}  // namespace barracuda::ptx
