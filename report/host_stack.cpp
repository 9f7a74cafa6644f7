#include "report/host_stack.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <string_view>
#include <unistd.h>

#include "fmt/format.h"
#include "report/dwarf.h"
#include "report/python_file.h"
#include "report/script_frame.h"
#include "report/symbol_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The function of the host that nvcc makes of a kernel. DWARF has no more of an instance of a
// template that was inlined than its last name: "add<int>" of "void ours::add<int>(int*)".
bool is_of_kernel(const std::string& function, const std::string& kernel) {
  if (kernel.empty() || function.empty()) {
    return false;
  }
  // In an instance for a lambda of device code: the host's function has nvcc's wrapper in its name.
  constexpr std::string_view kLambda = "__nv_", kWrapper = "dl_wrapper_t";
  if (function.find(kLambda) != function.npos && function.find(kWrapper) != function.npos &&
      template_name(function) == template_name(kernel)) {
    return true;
  }
  const std::string name = without_parameters(without_return_type(kernel));
  return name == without_parameters(without_return_type(function)) ||
         (function.find('(') == std::string::npos && name.ends_with("::" + function));
}

// nvcc makes of each kernel a host function of the same name and a stub below it.
bool is_launch_stub(const HostFrame& frame, const std::string& kernel) {
  // The last are those that a program has in itself of the static runtime.
  constexpr std::string_view kOfCuda[] = {
      "__cudaLaunch", "cudaLaunch", "cuLaunch", "cudaMem",
      "cuMem",        "cudaMalloc", "cudaFree", "libcudart_static_"};
  std::string_view name = frame.function;
  if (constexpr std::string_view kResult = "cudaError "; name.starts_with(kResult)) {
    name.remove_prefix(kResult.size());
  }
  return name.find("__device_stub_") != name.npos ||
         std::ranges::any_of(kOfCuda, [&](auto prefix) { return name.starts_with(prefix); }) ||
         is_toolkit_header(frame.file) || is_of_kernel(frame.function, kernel);
}

// The kernel whose stub is on the stack: "__device_stub__Z3addPi(int*)" is that of _Z3addPi. Empty
// if there is none.
std::string stubbed_kernel(const std::vector<HostFrame>& stack) {
  constexpr std::string_view kStub = "__device_stub_";
  for (const HostFrame& frame : stack) {
    if (const std::size_t at = frame.function.find(kStub); at != std::string::npos) {
      const std::string name = frame.function.substr(at + kStub.size());
      return demangle(name.substr(0, name.find('(')));
    }
  }
  return "";
}

// What stands between a line of Python and a call of CUDA, and is neither's.
bool is_of_python(const HostFrame& frame) {
  constexpr std::string_view kOfCython = "__pyx_";
  constexpr std::array<std::string_view, 3> kInterpreter = {"libpython3", "libffi.so", "python3."};
  const std::string_view name = file_name_of(frame.path);
  return frame.function.starts_with(kOfCython) || is_of_python_package(frame.path) ||
         std::ranges::any_of(kInterpreter, [name](auto start) { return name.starts_with(start); });
}

const HostFrame* own_frame(const std::vector<HostFrame>& stack, const std::string& kernel) {
  // `barracuda kernel` launches for a user who has no program.
  if (std::ranges::find(stack, "barracuda", &HostFrame::module) != stack.end()) {
    return nullptr;
  }
  const auto is_own = [&](const HostFrame& frame) {
    const bool is_unknown = frame.function.empty() && frame.module.empty();
    return !is_unknown && !is_runtime_module(frame.module) && !is_launch_stub(frame, kernel);
  };
  // A function of Thrust's that no line tells from the program's: better than nothing.
  auto own = std::ranges::find_if(stack, [&](const HostFrame& frame) {
    return is_own(frame) && (frame.line != 0 || !is_toolkit_function(frame.function));
  });
  if (own == stack.end()) {
    own = std::ranges::find_if(stack, is_own);
  }
  if (own == stack.end() || own->line == 0 || is_of_python(*own)) {
    const auto script = std::ranges::find_if(stack, &HostFrame::is_script);
    if (script != stack.end()) {
      return &*script;
    }
  }
  return own == stack.end() ? nullptr : &*own;
}

// The program itself has no name in the list.
std::string path_of(const link_map* module) {
  if (module == nullptr) {
    return "";
  }
  std::error_code error;
  return std::filesystem::absolute(
             *module->l_name == '\0'
                 ? std::filesystem::read_symlink("/proc/self/exe", error).string()
                 : module->l_name,
             error)
      .string();
}

std::string named(const HostFrame& frame) {
  const std::string function = frame.function.empty() ? "?" : frame.function;
  return frame.is_script || function.ends_with(")") ? function : function + "()";
}

std::string in_module(const HostFrame& frame) {
  return fmt::format("{} ({}+{:#x})", frame.function.empty() ? "?" : frame.function, frame.module,
                     frame.offset);
}

std::string named_place(const HostFrame& frame) {
  return frame.line != 0 ? fmt::format("{} at {}:{}", named(frame), frame.file, frame.line)
                         : in_module(frame);
}

bool is_main(const HostFrame& frame) {
  return frame.function == "main" || frame.function.starts_with("main(");
}

}  // namespace

struct HostSymbols::State {
  const DwarfLibrary* library = DwarfLibrary::load();
  Dwfl_Callbacks callbacks{};
  Dwfl* session = nullptr;
};

HostSymbols::HostSymbols() : state_(std::make_unique<State>()) {
  const DwarfLibrary* const library = state_->library;
  if (library == nullptr) {
    return;
  }
  state_->callbacks.find_elf = library->linux_proc_find_elf;
  state_->callbacks.find_debuginfo = find_no_separate_debug_file;
  state_->session = library->begin(&state_->callbacks);
  // By this thread's number: of the process nothing can be read once the main thread is over.
  if (state_->session != nullptr && (library->linux_proc_report(state_->session, gettid()) != 0 ||
                                     library->report_end(state_->session, nullptr, nullptr) != 0)) {
    library->end(state_->session);
    state_->session = nullptr;
  }
}

HostSymbols::~HostSymbols() {
  if (state_->session != nullptr) {
    state_->library->end(state_->session);
  }
}

bool HostSymbols::has_library() const {
  return state_->session != nullptr;
}

std::vector<HostFrame> HostSymbols::look_up(std::uint64_t return_address) const {
  if (is_script_address(return_address)) {
    return {script_frame(return_address)};
  }
  const std::uint64_t address = return_address - 1;  // inside the call instruction
  HostFrame frame;
  Dl_info info{};
  link_map* map = nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) != 0) {
    frame.module = info.dli_fname == nullptr ? "" : file_name_of(info.dli_fname);
    frame.offset = address - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    frame.function = info.dli_sname == nullptr ? "" : demangle(info.dli_sname);
    frame.path = path_of(map);
    frame.file_address = map == nullptr ? 0 : address - map->l_addr;
  }
  Dwfl_Module* const module =
      state_->session == nullptr ? nullptr : state_->library->addrmodule(state_->session, address);
  return module == nullptr ? std::vector{frame}
                           : frames_at(*state_->library, module, address, frame);
}

ptx::SourceFrame calling_place(const std::vector<HostFrame>& stack) {
  const HostFrame* const frame = own_frame(stack, stubbed_kernel(stack));
  if (frame == nullptr) {
    return {};
  }
  return {.function = frame->line != 0 ? named(*frame) : in_module(*frame),
          .file = frame->file,
          .line = frame->line};
}

void place(Access& access, const std::vector<HostFrame>& stack) {
  if (!access.is_by_host) {
    access.launched_from = launch_place(stack, access.kernel);
    access.module = launch_module(stack, access.kernel);
    return;
  }
  const ptx::SourceFrame frame = calling_place(stack);
  access.place = {.function = frame.function, .file = frame.file, .line = frame.line};
  access.inlined.clear();
  if (access.place != Frame{}) {
    access.inlined.push_back(access.place);
  }
}

std::string launch_module(const std::vector<HostFrame>& stack, const std::string& kernel) {
  const HostFrame* const frame = own_frame(stack, kernel);
  return frame == nullptr ? "" : frame->module;
}

std::string launch_place(const std::vector<HostFrame>& stack, const std::string& kernel) {
  const HostFrame* const frame = own_frame(stack, kernel);
  if (frame == nullptr) {
    return "";
  }
  return named_place(*frame);
}

std::string calling_chain(const std::vector<HostFrame>& stack, Unplaced unplaced) {
  constexpr int kMostCallers = 2;
  const HostFrame* const own = own_frame(stack, "");
  if (own == nullptr) {
    return "";
  }
  std::string text = named_place(*own);
  const HostFrame* const end = stack.data() + stack.size();
  int callers = 0;
  bool is_over = own->is_script || is_main(*own);
  for (const HostFrame* frame = own + 1; frame < end && !is_over && callers < kMostCallers;
       ++frame) {
    const bool is_known =
        frame->module == own->module && (frame->line != 0 || unplaced == Unplaced::kKept);
    if (is_known && !is_launch_stub(*frame, "") && !frame->function.starts_with("std::")) {
      text += ", called from " + named_place(*frame);
      ++callers;
    }
    is_over = is_main(*frame);
  }
  return text;
}

}  // namespace barracuda::report
