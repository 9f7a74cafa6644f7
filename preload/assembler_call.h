// What a command line of ptxas reads and writes, without knowing all its options: an input is what
// is PTX, be it a file or a word of the command line.
#pragma once

#include <string>
#include <vector>

namespace barracuda::preload {

struct AssemblerCall {
  std::vector<std::string> files;  // that may hold PTX: words that are no options, in their order
  std::vector<std::string> texts;  // PTX in the command line itself
  bool reads_standard_input = false;
  std::string output = "elf.o";
};

// The words without the program's name. Reads options files, as ptxas does.
AssemblerCall read_assembler_call(const std::vector<std::string>& words);

// Whether a text is PTX.
bool is_ptx(const std::string& text);

}  // namespace barracuda::preload
