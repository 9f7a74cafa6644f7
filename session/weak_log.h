// What was made weak in a run, as text. One line an event:
//
//   decision launch=1 kernel=_Z3dot block=3,0,0 thread=0,0,0 store=14 until=release turns=212
//     space=global address=0x7f10 bytes=4 at=FILE:LINE reader-block=… reader-thread=…
//     reader-at=FILE:LINE        (all on one line; `stale=` or `late=` of a load)
//   starvation …                 (the same keys)
//   drains space=global stores=3 count=17
//   instructions count=1076216   (of threads: an instruction of a whole warp counts 32)
//   stores space=shared count=16352
//   fences at=FILE:LINE count=32
//
// A line of a plan ends behind the number. Blanks, control characters and `%` in values are
// percent-encoded. The order of the keys is free, an unknown one is an error.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "emulator/weakness.h"

namespace barracuda::session {

// "decision launch=…  store=14", without the end of the line.
std::string decision_text(const emulator::Decision& decision);
// The same line; what the log says behind it may be there and is not returned.
Expected<emulator::Decision> parse_decision(std::string_view line);

std::string weak_log_text(const emulator::WeakLog& log);
// Empty lines and such that begin with '#' are left out. The error names the line's number.
Expected<emulator::WeakLog> parse_weak_log(std::string_view text);

// FILE:LINE,FILE:LINE as delay-places has it.
Expected<std::vector<emulator::CodePlace>> parse_places(std::string_view text);

// Adds to the file; what cannot be written is lost. `path` is expanded already.
void append_weak_log(const std::string& path, const emulator::WeakLog& log);

}  // namespace barracuda::session
