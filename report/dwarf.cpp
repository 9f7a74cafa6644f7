#include "report/dwarf.h"

#include <cstdlib>
#include <dlfcn.h>
#include <dwarf.h>
#include <memory>
#include <span>
#include <type_traits>

#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

struct Place {
  std::string file;
  std::uint32_t line = 0;
};

struct Unit {
  Dwarf_Die* die = nullptr;
  Dwarf_Addr bias = 0;
};

// The compilation unit of an address. clang writes no .debug_aranges, without which libdw does not
// find it (0.188, Debian 12): then all are asked.
Unit unit_of(const DwarfLibrary& library, Dwfl_Module* module, Dwarf_Addr address) {
  Unit unit;
  unit.die = library.module_addrdie(module, address, &unit.bias);
  if (unit.die != nullptr) {
    return unit;
  }
  do {
    unit.die = library.module_nextcu(module, unit.die, &unit.bias);
  } while (unit.die != nullptr && library.haspc(unit.die, address - unit.bias) != 1);
  return unit;
}

class Scopes {
 public:
  // Those of the debug information entry in which the address lies, outermost last. A scope that
  // dwarf_getscopes() finds is of the function as it was written; its own entry leads to the
  // caller.
  Scopes(const DwarfLibrary& library, Dwfl_Module* module, const Unit& unit, Dwarf_Addr address)
      : library_(library) {
    Dwarf_Die* found = nullptr;
    if (unit.die == nullptr || library.getscopes(unit.die, address - unit.bias, &found) <= 0) {
      return;
    }
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> written(found, &std::free);
    Dwarf_Die innermost{};
    Dwarf_Addr bias = 0;
    Dwarf* const dwarf = library.module_getdwarf(module, &bias);
    if (library.offdie(dwarf, library.dieoffset(found), &innermost) == nullptr) {
      return;
    }
    Dwarf_Die* scopes = nullptr;
    const int count = library.getscopes_die(&innermost, &scopes);
    scopes_.reset(scopes);
    count_ = count < 0 ? 0 : static_cast<std::size_t>(count);
  }

  [[nodiscard]] std::span<Dwarf_Die> all() const { return {scopes_.get(), count_}; }

  [[nodiscard]] bool is_inlined(Dwarf_Die& scope) const {
    return library_.tag(&scope) == DW_TAG_inlined_subroutine;
  }

  [[nodiscard]] bool is_function(Dwarf_Die& scope) const {
    return is_inlined(scope) || library_.tag(&scope) == DW_TAG_subprogram;
  }

  [[nodiscard]] std::string name_of(Dwarf_Die& scope) const {
    Dwarf_Attribute attribute{};
    if (library_.attr_integrate(&scope, DW_AT_linkage_name, &attribute) != nullptr) {
      if (const char* const name = library_.formstring(&attribute)) {
        return demangle(name);
      }
    }
    const char* const name = library_.diename(&scope);
    return name == nullptr ? "" : name;
  }

  // Where an inlined function was called.
  [[nodiscard]] Place call_of(Dwarf_Die& scope) const {
    Dwarf_Die unit{};
    Dwarf_Files* files = nullptr;
    if (library_.diecu(&scope, &unit, nullptr, nullptr) == nullptr ||
        library_.getsrcfiles(&unit, &files, nullptr) != 0) {
      return {};
    }
    const char* const file =
        library_.filesrc(files, number(scope, DW_AT_call_file), nullptr, nullptr);
    const Dwarf_Word line = number(scope, DW_AT_call_line);
    return file == nullptr || line == 0
               ? Place{}
               : Place{.file = file, .line = static_cast<std::uint32_t>(line)};
  }

 private:
  [[nodiscard]] Dwarf_Word number(Dwarf_Die& scope, unsigned name) const {
    Dwarf_Attribute attribute{};
    Dwarf_Word value = 0;
    return library_.attr(&scope, name, &attribute) != nullptr &&
                   library_.formudata(&attribute, &value) == 0
               ? value
               : 0;
  }

  const DwarfLibrary& library_;
  std::unique_ptr<Dwarf_Die, decltype(&std::free)> scopes_{nullptr, &std::free};
  std::size_t count_ = 0;
};

Place line_at(const DwarfLibrary& library, const Unit& unit, Dwarf_Addr address) {
  int number = 0;
  Dwarf_Line* const line =
      unit.die == nullptr ? nullptr : library.getsrc_die(unit.die, address - unit.bias);
  const char* const file = line == nullptr || library.lineno(line, &number) != 0
                               ? nullptr
                               : library.linesrc(line, nullptr, nullptr);
  return file == nullptr || number <= 0
             ? Place{}
             : Place{.file = file, .line = static_cast<std::uint32_t>(number)};
}

}  // namespace

const DwarfLibrary* DwarfLibrary::load() {
  static const DwarfLibrary* const loaded = []() -> const DwarfLibrary* {
    void* const library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      return nullptr;
    }
    static DwarfLibrary found;
    bool has_all = true;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      has_all = has_all && function != nullptr;
    };
#define BARRACUDA_FIND(name, function) find(found.name, #function);
    BARRACUDA_DWARF_FUNCTIONS(BARRACUDA_FIND)
#undef BARRACUDA_FIND
    return has_all ? &found : nullptr;
  }();
  return loaded;
}

// NOLINTNEXTLINE(readability-function-size): the parameters are libdw's
int find_no_separate_debug_file(Dwfl_Module* /*module*/, void** /*data*/, const char* /*name*/,
                                Dwarf_Addr /*base*/, const char* /*link*/, const char* /*path*/,
                                GElf_Word /*sum*/, char** /*found*/) {
  return -1;
}

bool is_runtime_module(std::string_view module) {
  return module.starts_with("libbarracuda") || module.starts_with("libcudart") ||
         module.starts_with("libcuda.so");
}

std::vector<HostFrame> frames_at(const DwarfLibrary& library, Dwfl_Module* module,
                                 Dwarf_Addr address, const HostFrame& known) {
  if (is_runtime_module(known.module)) {
    return {known};
  }
  const Unit unit = unit_of(library, module, address);
  Place place = line_at(library, unit, address);
  const char* const symbol = library.module_addrname(module, address);
  std::vector<HostFrame> frames;
  const auto add = [&](const std::string& function) {
    HostFrame& frame = frames.emplace_back(known);
    frame.function = function;
    frame.file = place.file;
    frame.line = place.line;
  };
  const Scopes scopes(library, module, unit, address);
  for (Dwarf_Die& scope : scopes.all()) {
    if (!scopes.is_function(scope)) {
      continue;
    }
    const bool is_inlined = scopes.is_inlined(scope);
    const std::string name = scopes.name_of(scope);
    add(is_inlined || symbol == nullptr ? name : demangle(symbol));
    if (!is_inlined) {
      break;
    }
    place = scopes.call_of(scope);
  }
  if (frames.empty()) {
    add(symbol == nullptr ? known.function : demangle(symbol));
  }
  return frames;
}

}  // namespace barracuda::report
