// What stays the same of a bug: from run to run, on another device, in another process or rank,
// after lines were inserted above it. Two findings with one fingerprint are one bug.
#pragma once

#include <string>

#include "report/race_report.h"
#include "report/source_text.h"

namespace barracuda::report {

// 32 hexadecimal digits, made of what kind of finding it is, the memory, and of each place the
// file's name, the function without arguments of templates, the line's text (or, where it cannot be
// read, the instructions there), which of several equal lines of the function it is, and which
// variable of the line; the places in no order. Bump kForm when what goes in changes: baselines
// become old by it.
std::string fingerprint_of(const Finding& finding, SourceText& sources);

}  // namespace barracuda::report
