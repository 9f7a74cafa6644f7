// PTX for tests: a kernel around a body, and the files that the build compiled from data/*.cu.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/instrument.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// A module with one entry `kernel` whose body is `body`.
std::string kernel_text(std::string_view body);
// The same parsed; fails the test case if it does not parse.
Module parse_kernel(std::string_view body);
Module parse_module(std::string text);
// A module alone, instrumented; fails the test case if that does.
InstrumentedModule instrument_text(std::string text, const InstrumentOptions& options = {});

// The statements between the braces of the first function.
std::vector<const Statement*> body_of(const Module& module);
// The operands of the only instruction of `body`, which may declare things before it.
Instruction parse_instruction(std::string_view text);

// How often a text has `part` in it.
std::size_t count(std::string_view text, std::string_view part);

std::string read_text(const std::filesystem::path& path);
// PTX files compiled from data/*.cu whose name ends in `suffix` ("sm_90.ptx"; empty: all).
std::vector<std::filesystem::path> corpus(std::string_view suffix = {});

}  // namespace barracuda::ptx
