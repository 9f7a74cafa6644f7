// Lines of machine code from DWARF, by libdw. A guest process must not depend on libdw.so, and
// Debian's libdw.a fits into no shared library: libbarracuda.so loads libdw.so.1 where that is
// installed, and the `barracuda` command has it linked in. Whoever looks up says where it has the
// functions from.
#pragma once

#include <elfutils/libdwfl.h>
#include <string_view>
#include <vector>

#include "report/host_frame.h"

namespace barracuda::report {

// X(name here, name of libdw).
#define BARRACUDA_DWARF_FUNCTIONS(X)                       \
  X(begin, dwfl_begin)                                     \
  X(end, dwfl_end)                                         \
  X(linux_proc_report, dwfl_linux_proc_report)             \
  X(report_begin_add, dwfl_report_begin_add)               \
  X(report_offline, dwfl_report_offline)                   \
  X(report_end, dwfl_report_end)                           \
  X(addrmodule, dwfl_addrmodule)                           \
  X(module_addrname, dwfl_module_addrname)                 \
  X(module_getelf, dwfl_module_getelf)                     \
  X(module_getdwarf, dwfl_module_getdwarf)                 \
  X(module_addrdie, dwfl_module_addrdie)                   \
  X(module_nextcu, dwfl_module_nextcu)                     \
  X(haspc, dwarf_haspc)                                    \
  X(getsrc_die, dwarf_getsrc_die)                          \
  X(linesrc, dwarf_linesrc)                                \
  X(lineno, dwarf_lineno)                                  \
  X(linux_proc_find_elf, dwfl_linux_proc_find_elf)         \
  X(build_id_find_elf, dwfl_build_id_find_elf)             \
  X(offline_section_address, dwfl_offline_section_address) \
  X(getscopes, dwarf_getscopes)                            \
  X(getscopes_die, dwarf_getscopes_die)                    \
  X(dieoffset, dwarf_dieoffset)                            \
  X(offdie, dwarf_offdie)                                  \
  X(tag, dwarf_tag)                                        \
  X(diename, dwarf_diename)                                \
  X(attr, dwarf_attr)                                      \
  X(attr_integrate, dwarf_attr_integrate)                  \
  X(formstring, dwarf_formstring)                          \
  X(formudata, dwarf_formudata)                            \
  X(diecu, dwarf_diecu)                                    \
  X(getsrcfiles, dwarf_getsrcfiles)                        \
  X(filesrc, dwarf_filesrc)

struct DwarfLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define BARRACUDA_DECLARE(name, function) decltype(&::function) name = nullptr;
  BARRACUDA_DWARF_FUNCTIONS(BARRACUDA_DECLARE)
#undef BARRACUDA_DECLARE

  // Of libdw.so.1; null where it cannot be loaded.
  static const DwarfLibrary* load();
};

// The standard look-up of separate debug files may ask a debuginfod server over the network, which
// a guest must not do; the module's own DWARF has to do.
int find_no_separate_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base,
                                const char* link, const char* path, GElf_Word sum, char** found);

// The tool's own library, or CUDA's, by its file name: no frame of it is the program's.
bool is_runtime_module(std::string_view module);

// What stands at an address of a module, innermost first: functions that the compiler has inlined
// there, then the one that it is in. `known` is what is known of it without DWARF,
// and all there is to say of a runtime's: to read the DWARF of ours takes seconds.
std::vector<HostFrame> frames_at(const DwarfLibrary& library, Dwfl_Module* module,
                                 Dwarf_Addr address, const HostFrame& known);

}  // namespace barracuda::report
