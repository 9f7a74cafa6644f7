// Suppressions in the form of compute-sanitizer: its report as XML (--xml --save). Of each record
// the kind, and the places on the device, are taken; the host's stack is of no finding of ours, and
// lines and addresses are not compared, as they are not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace barracuda::report {

// A <where> or a <frame> of the device's stack, as patterns: `*` stands for any text, an empty one
// for anything.
struct SanitizerPlace {
  std::string function;  // its last name alone: put for void ns::put<int>(int*)
  std::string file;      // its path as the compiler saw it
  std::string module;
};

struct SanitizerRecord {
  std::string kind;
  // One for each side of a race (in <source> and <destination>, or in <thread0> and <thread1>).
  std::vector<SanitizerPlace> places;
  std::vector<SanitizerPlace> stack;
};

bool is_sanitizer_xml(std::string_view text);

// Errors: an element that is not closed.
Expected<std::vector<SanitizerRecord>> read_sanitizer_xml(std::string_view text);

}  // namespace barracuda::report
