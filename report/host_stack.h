// Return addresses of this process as host functions and lines, from the DWARF of its modules where
// libdw.so.1 can be loaded, else from the dynamic symbols. Call it while the modules are still
// loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/site_table.h"
#include "report/host_frame.h"
#include "report/race_report.h"

namespace barracuda::report {

class HostSymbols {
 public:
  HostSymbols();
  ~HostSymbols();
  HostSymbols(const HostSymbols&) = delete;
  HostSymbols& operator=(const HostSymbols&) = delete;

  // The frame of the call that returns to this address, and before it those of functions that were
  // inlined there. At least one.
  [[nodiscard]] std::vector<HostFrame> look_up(std::uint64_t return_address) const;

  // Without it no frame has a line.
  [[nodiscard]] bool has_library() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where the program itself made a call of CUDA: the innermost frame that is neither ours nor the
// CUDA runtime's; that of the script which called it, if the frame has no line or is of one of
// Python's packages. Without debug information the function is "main (app+0x1234)"; empty if
// unknown.
ptx::SourceFrame calling_place(const std::vector<HostFrame>& stack);

// Where the program itself launched a kernel: the innermost frame that is neither ours, nor the
// CUDA runtime's, nor the stub that nvcc generates for the kernel (demangled name). "main() at
// app.cu:42", "main (app+0x1234)"; empty if unknown.
std::string launch_place(const std::vector<HostFrame>& stack, const std::string& kernel);

// The same of the call of CUDA, and with it up to two of those that led to it in the same module:
// "make() at app.cu:7, called from main() at app.cu:42". Of those without a line there is nothing
// to say, unless somebody can look it up later.
enum class Unplaced : std::uint8_t { kLeftOut, kKept };
std::string calling_chain(const std::vector<HostFrame>& stack,
                          Unplaced unplaced = Unplaced::kLeftOut);

// Puts this place into an access by the host, or into one of a kernel that was launched there.
void place(Access& access, const std::vector<HostFrame>& stack);

// The file name of the program or library that this is in.
std::string launch_module(const std::vector<HostFrame>& stack, const std::string& kernel);

}  // namespace barracuda::report
