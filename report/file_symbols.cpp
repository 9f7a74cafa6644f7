#include "report/file_symbols.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/number_text.h"
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

namespace {

// A frame of a location's text, "main (app+0x1234)", and where that lies in the text.
struct WrittenFrame {
  std::size_t begin = 0, end = 0;
  HostFrame frame;
};

// The first from `at` on that is in the module of `known`, which is mapped as it was there.
std::optional<WrittenFrame> written_frame(const std::string& text, const HostFrame& known,
                                          std::size_t at) {
  constexpr std::string_view kFrom = " from ";
  const std::string opening = " (" + known.module + "+0x";
  const std::size_t open = text.find(opening, at);
  const std::size_t digits = open + opening.size();
  const std::size_t close = open == text.npos ? text.npos : text.find(')', digits);
  const std::size_t from = open == text.npos ? text.npos : text.rfind(kFrom, open);
  if (close == text.npos || from == text.npos || known.module.empty()) {
    return std::nullopt;
  }
  const std::string_view number = std::string_view(text).substr(digits, close - digits);
  const auto offset = parse_number<std::uint64_t>(number, 16);
  if (!offset) {
    return std::nullopt;
  }
  WrittenFrame written{.begin = from + kFrom.size(), .end = close + 1, .frame = known};
  written.frame.function = text.substr(written.begin, open - written.begin);
  written.frame.offset = *offset;
  written.frame.file_address = known.file_address - known.offset + *offset;
  return written;
}

// Where memory was allocated is text already: lines take the place of the addresses there. Who
// calls main, and callers that have no lines, are left out.
void place_in_location(std::string& location, const HostFrame& known, FileSymbols& symbols) {
  constexpr std::string_view kCaller = ", called from ";
  const auto names_main = [](std::string_view frame) {
    return frame.starts_with("main(") || frame.starts_with("main (");
  };
  bool is_over = false;
  std::size_t at = 0;
  while (const auto written = written_frame(location, known, at)) {
    const std::string place = calling_chain(symbols.look_up(written->frame));
    const std::string_view text = location;
    const std::size_t before = written->begin - std::min(written->begin, kCaller.size());
    const bool is_caller = text.substr(before).starts_with(kCaller);
    const bool has_caller = text.substr(written->end).starts_with(kCaller);
    if (is_caller && (is_over || place.empty() || written_frame(" from " + place, known, 0))) {
      location.erase(before, written->end - before);
      at = before;
    } else if (place.empty() && has_caller) {  // the runtime's own, in the program
      location.erase(written->begin, written->end + kCaller.size() - written->begin);
      at = written->begin;
    } else if (!place.empty()) {
      const std::size_t last = place.rfind(kCaller);
      is_over = names_main(last == place.npos ? place : place.substr(last + kCaller.size()));
      location.replace(written->begin, written->end - written->begin, place);
      at = written->begin + place.size();
    } else {
      at = written->end;
    }
  }
}

}  // namespace

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
      for (const HostFrame& frame : access.host_stack) {
        place_in_location(finding.location, frame, symbols);
      }
      access.host_stack.clear();
      is_changed = true;
    }
    if (is_changed) {
      finding.fingerprint = fingerprint_of(finding, sources);
    }
  }
}

}  // namespace barracuda::report
