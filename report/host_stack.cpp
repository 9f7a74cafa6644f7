#include "report/host_stack.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <string_view>
#include <unistd.h>

#include "fmt/format.h"
#include "report/script_frame.h"
#include "report/symbol_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

// Debian's libdw.a is not position-independent, and a guest process must not depend on libdw.so: it
// is loaded when the report is made, where it is installed. Only its types come from the header.
struct DwarfLibrary {
  decltype(&::dwfl_begin) begin = nullptr;
  decltype(&::dwfl_end) end = nullptr;
  decltype(&::dwfl_linux_proc_report) linux_proc_report = nullptr;
  decltype(&::dwfl_report_end) report_end = nullptr;
  decltype(&::dwfl_addrmodule) addrmodule = nullptr;
  decltype(&::dwfl_module_addrname) module_addrname = nullptr;
  decltype(&::dwfl_module_getsrc) module_getsrc = nullptr;
  decltype(&::dwfl_lineinfo) lineinfo = nullptr;
  decltype(&::dwfl_linux_proc_find_elf) find_elf = nullptr;

  bool load() {
    void* const library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto find = [library](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return library != nullptr && find(begin, "dwfl_begin") && find(end, "dwfl_end") &&
           find(linux_proc_report, "dwfl_linux_proc_report") &&
           find(report_end, "dwfl_report_end") && find(addrmodule, "dwfl_addrmodule") &&
           find(module_addrname, "dwfl_module_addrname") &&
           find(module_getsrc, "dwfl_module_getsrc") && find(lineinfo, "dwfl_lineinfo") &&
           find(find_elf, "dwfl_linux_proc_find_elf");
  }
};

// The standard look-up of separate debug files may ask a debuginfod server over the network, which
// a guest must not do; the module's own DWARF has to do.
int find_no_separate_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*,
                                const char*, GElf_Word, char**) {
  return -1;
}

std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_runtime_module(std::string_view module) {
  return module.starts_with("libbarracuda") || module.starts_with("libcudart") ||
         module.starts_with("libcuda.so");
}

// nvcc makes of each kernel a host function of the same name and a stub below it.
bool is_launch_stub(const HostFrame& frame, const std::string& kernel) {
  return frame.function.find("__device_stub_") != std::string::npos ||
         frame.function.starts_with("__cudaLaunch") || frame.function.starts_with("cudaLaunch") ||
         frame.function.starts_with("cudaError cudaLaunch") ||
         frame.function.starts_with("cuLaunch") || frame.function.starts_with("cudaMem") ||
         frame.function.starts_with("cudaError cudaMem") || frame.function.starts_with("cuMem") ||
         is_toolkit_header(frame.file) ||
         (!kernel.empty() && without_parameters(frame.function) == without_parameters(kernel));
}

const HostFrame* own_frame(const std::vector<HostFrame>& stack, const std::string& kernel) {
  const auto own = std::ranges::find_if(stack, [&](const HostFrame& frame) {
    const bool is_unknown = frame.function.empty() && frame.module.empty();
    return !is_unknown && !is_runtime_module(frame.module) && !is_launch_stub(frame, kernel);
  });
  if (own == stack.end() || own->line == 0) {
    const auto script = std::ranges::find_if(stack, &HostFrame::is_script);
    if (script != stack.end()) {
      return &*script;
    }
  }
  return own == stack.end() ? nullptr : &*own;
}

std::string named(const HostFrame& frame) {
  const std::string function = frame.function.empty() ? "?" : frame.function;
  return frame.is_script || function.ends_with(")") ? function : function + "()";
}

std::string in_module(const HostFrame& frame) {
  return fmt::format("{} ({}+{:#x})", frame.function.empty() ? "?" : frame.function, frame.module,
                     frame.offset);
}

}  // namespace

struct HostSymbols::State {
  DwarfLibrary library;
  Dwfl_Callbacks callbacks{};
  Dwfl* session = nullptr;
};

HostSymbols::HostSymbols() : state_(std::make_unique<State>()) {
  DwarfLibrary& library = state_->library;
  if (!library.load()) {
    return;
  }
  state_->callbacks.find_elf = library.find_elf;
  state_->callbacks.find_debuginfo = find_no_separate_debug_file;
  state_->session = library.begin(&state_->callbacks);
  if (state_->session != nullptr && (library.linux_proc_report(state_->session, getpid()) != 0 ||
                                     library.report_end(state_->session, nullptr, nullptr) != 0)) {
    library.end(state_->session);
    state_->session = nullptr;
  }
}

HostSymbols::~HostSymbols() {
  if (state_->session != nullptr) {
    state_->library.end(state_->session);
  }
}

HostFrame HostSymbols::look_up(std::uint64_t return_address) const {
  if (is_script_address(return_address)) {
    return script_frame(return_address);
  }
  const std::uint64_t address = return_address - 1;  // inside the call instruction
  HostFrame frame;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) != 0) {
    frame.module = info.dli_fname == nullptr ? "" : file_name_of(info.dli_fname);
    frame.offset = address - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    frame.function = info.dli_sname == nullptr ? "" : demangle(info.dli_sname);
  }
  const DwarfLibrary& library = state_->library;
  Dwfl_Module* const module =
      state_->session == nullptr ? nullptr : library.addrmodule(state_->session, address);
  if (module == nullptr) {
    return frame;
  }
  if (const char* const name = library.module_addrname(module, address)) {
    frame.function = demangle(name);
  }
  if (Dwfl_Line* const line = library.module_getsrc(module, address)) {
    int number = 0;
    const char* const file = library.lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file != nullptr && number > 0) {
      frame.file = file;
      frame.line = static_cast<std::uint32_t>(number);
    }
  }
  return frame;
}

ptx::SourceFrame calling_place(const std::vector<HostFrame>& stack) {
  const HostFrame* const frame = own_frame(stack, "");
  if (frame == nullptr) {
    return {};
  }
  return {.function = frame->line != 0 ? named(*frame) : in_module(*frame),
          .file = frame->file,
          .line = frame->line};
}

std::string launch_place(const std::vector<HostFrame>& stack, const std::string& kernel) {
  const HostFrame* const frame = own_frame(stack, kernel);
  if (frame == nullptr) {
    return "";
  }
  return frame->line != 0 ? fmt::format("{} at {}:{}", named(*frame), frame->file, frame->line)
                          : in_module(*frame);
}

}  // namespace barracuda::report
