#include "report/own_frame.h"

#include "report/symbol_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {

Frame resolved(const ptx::SourceFrame& frame) {
  return {.function = demangle(frame.function), .file = frame.file, .line = frame.line};
}

bool are_of_one_place(const ptx::SourceFrame& one, const ptx::SourceFrame& other) {
  return one.file == other.file && one.line == other.line && one.column == other.column;
}

std::vector<Frame> resolved(const std::vector<ptx::SourceFrame>& frames) {
  std::vector<Frame> chain;
  chain.reserve(frames.size());
  for (const ptx::SourceFrame& frame : frames) {
    chain.push_back(resolved(frame));
  }
  return chain;
}

Frame own_frame(const std::vector<Frame>& chain, const std::vector<Frame>& callers,
                const std::string& function) {
  for (const std::vector<Frame>* const frames : {&chain, &callers}) {
    for (const Frame& frame : *frames) {
      if (!frame.file.empty() && !is_toolkit_header(frame.file)) {
        return frame;
      }
    }
  }
  return chain.empty() ? Frame{.function = function, .file = "", .line = 0} : chain.front();
}

}  // namespace barracuda::report
