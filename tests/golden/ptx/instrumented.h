// What the tests of instrumented PTX have in common: instrument files, run ptxas.
#pragma once

#include <string>
#include <vector>

#include "ptx/instrument.h"

namespace barracuda::ptx {

// Fails the current test case if the files cannot be parsed or instrumented.
InstrumentedModule instrument_files(const std::vector<std::string>& paths,
                                    const InstrumentOptions& options = {});

// Empty if ptxas assembles the text for its own target, else what it said. Under sanitizers ptxas
// is asked for machine code only.
std::string assemble(const std::string& text, std::string* machine_code = nullptr);
// The same for another target.
std::string assemble_for(const std::string& target, const std::string& text,
                         std::string* machine_code = nullptr);

}  // namespace barracuda::ptx
