// What a return address of a process stands for, as far as that is known.
#pragma once

#include <cstdint>
#include <string>

namespace barracuda::report {

struct HostFrame {
  std::string function;  // demangled; empty if unknown
  std::string file;      // empty without debug information
  std::uint32_t line = 0;
  std::string module;        // file name of the executable or library
  std::uint64_t offset = 0;  // in it
  bool is_script = false;    // of an interpreted language (script_frame.h)
  // Where another process finds it: the module's path, and the address as its file has it.
  std::string path;
  std::uint64_t file_address = 0;

  friend bool operator==(const HostFrame&, const HostFrame&) = default;
};

}  // namespace barracuda::report
