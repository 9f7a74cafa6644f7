// Return addresses of this process as host functions and lines, from the DWARF of its modules where
// libdw.so.1 can be loaded, else from the dynamic symbols. Call it while the modules are still
// loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/site_table.h"

namespace barracuda::report {

struct HostFrame {
  std::string function;  // demangled; empty if unknown
  std::string file;      // empty without debug information
  std::uint32_t line = 0;
  std::string module;        // file name of the executable or library
  std::uint64_t offset = 0;  // in it
  bool is_script = false;    // of an interpreted language (script_frame.h)
};

class HostSymbols {
 public:
  HostSymbols();
  ~HostSymbols();
  HostSymbols(const HostSymbols&) = delete;
  HostSymbols& operator=(const HostSymbols&) = delete;

  // The frame of the call that returns to this address.
  [[nodiscard]] HostFrame look_up(std::uint64_t return_address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where the program itself made a call of CUDA: the innermost frame that is neither ours nor the
// CUDA runtime's; that of the script which called it, if the frame has no line. Without debug
// information the function is "main (app+0x1234)"; empty if unknown.
ptx::SourceFrame calling_place(const std::vector<HostFrame>& stack);

// Where the program itself launched a kernel: the innermost frame that is neither ours, nor the
// CUDA runtime's, nor the stub that nvcc generates for the kernel (demangled name). "main() at
// app.cu:42", "main (app+0x1234)"; empty if unknown.
std::string launch_place(const std::vector<HostFrame>& stack, const std::string& kernel);

}  // namespace barracuda::report
