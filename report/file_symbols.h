// Looks up frames of processes that have ended, or could not do it themselves, in the files of
// their modules.
#pragma once

#include <memory>
#include <vector>

#include "report/dwarf.h"
#include "report/race_report.h"

namespace barracuda::report {

class FileSymbols {
 public:
  explicit FileSymbols(const DwarfLibrary& library);
  ~FileSymbols();
  FileSymbols(const FileSymbols&) = delete;
  FileSymbols& operator=(const FileSymbols&) = delete;

  // The frame, with those that are inlined there before it; as it is where its module's file has no
  // lines.
  [[nodiscard]] std::vector<HostFrame> look_up(const HostFrame& frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Puts the places into the report that its host frames (Access::host_stack) stand for.
void place_host_frames(Report& report, FileSymbols& symbols);

}  // namespace barracuda::report
