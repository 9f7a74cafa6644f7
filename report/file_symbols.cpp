#include "report/file_symbols.h"

#include <map>
#include <string>

#include "report/fingerprint.h"
#include "report/host_stack.h"

namespace barracuda::report {

struct FileSymbols::State {
  const DwarfLibrary& library;
  Dwfl_Callbacks callbacks{};
  Dwfl* session = nullptr;
  std::map<std::string, Dwfl_Module*> modules;  // by path; null: not readable

  Dwfl_Module* module_at(const std::string& path) {
    const auto [known, is_new] = modules.try_emplace(path, nullptr);
    if (is_new) {
      library.report_begin_add(session);
      known->second = library.report_offline(session, path.c_str(), path.c_str(), -1);
      library.report_end(session, nullptr, nullptr);
    }
    return known->second;
  }
};

FileSymbols::FileSymbols(const DwarfLibrary& library)
    : state_(std::make_unique<State>(State{.library = library})) {
  state_->callbacks.find_elf = library.build_id_find_elf;
  state_->callbacks.find_debuginfo = find_no_separate_debug_file;
  state_->callbacks.section_address = library.offline_section_address;
  state_->session = library.begin(&state_->callbacks);
}

FileSymbols::~FileSymbols() {
  if (state_->session != nullptr) {
    state_->library.end(state_->session);
  }
}

std::vector<HostFrame> FileSymbols::look_up(const HostFrame& frame) {
  if (state_->session == nullptr || frame.path.empty() || frame.line != 0) {
    return {frame};
  }
  Dwfl_Module* const module = state_->module_at(frame.path);
  GElf_Addr bias = 0;
  if (module == nullptr || state_->library.module_getelf(module, &bias) == nullptr) {
    return {frame};
  }
  return frames_at(state_->library, module, bias + frame.file_address, frame);
}

void place_host_frames(Report& report, FileSymbols& symbols) {
  SourceText sources;
  for (Finding& finding : report.findings) {
    bool is_changed = false;
    for (Access& access : finding.accesses) {
      if (access.host_stack.empty()) {
        continue;
      }
      std::vector<HostFrame> stack;
      for (const HostFrame& frame : access.host_stack) {
        const std::vector<HostFrame> frames = symbols.look_up(frame);
        stack.insert(stack.end(), frames.begin(), frames.end());
      }
      place(access, stack);
      access.host_stack.clear();
      is_changed = true;
    }
    if (is_changed) {
      finding.fingerprint = fingerprint_of(finding, sources);
    }
  }
}

}  // namespace barracuda::report
