// What a program's file says about why the tool could see nothing of the program.
#pragma once

#include <string>
#include <vector>

namespace barracuda::cli {

// The file that a shell would run for this word; empty if there is none.
std::string find_program(const std::string& word);

// Sentences with the fix; none if the file gives no reason. `is_emulated`: kernels would have run
// on the emulated device.
std::vector<std::string> obstacles(const std::string& word, bool is_emulated);

}  // namespace barracuda::cli
