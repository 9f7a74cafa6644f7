#include "cli/host_lines.h"

#include "report/file_symbols.h"

namespace barracuda::cli {
namespace {

const report::DwarfLibrary& linked_library() {
#define BARRACUDA_LINKED(name, function) .name = &::function,
  static constexpr report::DwarfLibrary kLinked = {BARRACUDA_DWARF_FUNCTIONS(BARRACUDA_LINKED)};
#undef BARRACUDA_LINKED
  return kLinked;
}

}  // namespace

// A report is made anew whenever something was found: files are read once.
void add_host_lines(report::Report& report) {
  static report::FileSymbols symbols(linked_library());
  report::place_host_frames(report, symbols);
}

}  // namespace barracuda::cli
