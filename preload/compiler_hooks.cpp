#include "preload/compiler_hooks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/file.h"
#include "preload/code_origins.h"
#include "preload/driver_library.h"
#include "preload/guard.h"
#include "preload/link_input.h"

namespace barracuda::preload {
namespace {

using session::CodeOrigin;

enum class Function : std::uint8_t {
  kCompileProgram,
  kGetMachineCode,
  kCreateLinker,
  kAddData,
  kAddFile,
  kGetLinkedCode,
  kDestroyLinker,
};

struct FunctionName {
  Function function;
  std::string_view name;
};

constexpr std::array kFunctions = {
    FunctionName{.function = Function::kCompileProgram, .name = "nvrtcCompileProgram"},
    FunctionName{.function = Function::kGetMachineCode, .name = "nvrtcGetCUBIN"},
    FunctionName{.function = Function::kCreateLinker, .name = "nvJitLinkCreate"},
    FunctionName{.function = Function::kAddData, .name = "nvJitLinkAddData"},
    FunctionName{.function = Function::kAddFile, .name = "nvJitLinkAddFile"},
    FunctionName{.function = Function::kGetLinkedCode, .name = "nvJitLinkGetLinkedCubin"},
    FunctionName{.function = Function::kDestroyLinker, .name = "nvJitLinkDestroy"},
};

constexpr std::size_t place_of(Function function) {
  return static_cast<std::size_t>(std::ranges::find(kFunctions, function, &FunctionName::function) -
                                  kFunctions.begin());
}

// nvJitLink's numbers for what is linked.
enum class InputKind : int {
  kMachineCode = 1,
  kPtx = 2,
  kIntermediate = 3,
  kFatbin = 4,
  kObject = 5,
  kLibrary = 6,
};

// One library of the process.
struct Library {
  const void* base = nullptr;
  void* handle = nullptr;
  std::array<std::atomic<void*>, kFunctions.size()> originals{};  // as kFunctions has them

  template <typename Signature>
  [[nodiscard]] Signature* original(Function function) const {
    void* const found = originals.at(place_of(function)).load();
    DEBUG_ASSERT(found != nullptr);  // who calls its hook has got that from find_compiler_hook()
    return reinterpret_cast<Signature*>(found);
  }

  template <typename Signature>
  [[nodiscard]] Signature* find(const char* name) const {
    return reinterpret_cast<Signature*>(handle == nullptr ? nullptr : real_dlsym(handle, name));
  }
};

constexpr std::size_t kMostLibraries = 4;
std::array<Library, kMostLibraries> g_libraries;

// What nvJitLink is given for one result.
struct Link {
  std::vector<std::string> options;
  std::vector<std::string> intermediates;  // LTO-IR, whose PTX nvJitLink itself writes on demand
  CodeOrigin origin;                       // of everything else
};

// Never destroyed.
struct Links {
  std::mutex mutex;  // also of g_libraries
  std::map<const void*, Link> by_linker;
};

Links& links() {
  static auto* const instance = new Links;
  return *instance;
}

template <typename Work>
void observe(const Work& work) {
  if (!tool_is_off()) {
    HookScope::protect(Loss::kCoverage, work);
  }
}

bool asks_for_lines(std::string_view option) {
  constexpr std::string_view kOptions[] = {"-lineinfo", "--generate-line-info", "-G",
                                           "--device-debug"};
  return std::ranges::find(kOptions, option) != std::end(kOptions);
}

// Line information does not change the code, and a report without lines is of little use. But not
// every program compiles with it: cuDNN's attention did not, on an H200.
void ask_for_lines(std::vector<const char*>& options) {
  if (std::ranges::none_of(options, asks_for_lines)) {
    options.push_back("-lineinfo");
  }
}

int compile_program(const Library& library, void* program, int count, const char* const* options) {
  std::vector<const char*> all;
  observe([&] {
    if (count >= 0 && (count == 0 || options != nullptr)) {
      all.assign(options, options + count);
      ask_for_lines(all);
    }
  });
  auto* const original = library.original<CompileProgram>(Function::kCompileProgram);
  if (all.size() > static_cast<std::size_t>(std::max(count, 0)) &&
      original(program, static_cast<int>(all.size()), all.data()) == 0) {
    return 0;
  }
  return original(program, count, options);  // its status and its log are those of the program's
}

// A text of NVRTC or nvJitLink: the functions for its size and for its bytes.
std::string text_of(const Library& library, void* owner, const char* size_name, const char* name) {
  auto* const get_size = library.find<int(void*, std::size_t*)>(size_name);
  auto* const get = library.find<GetMachineCode>(name);
  std::size_t size = 0;
  if (get_size == nullptr || get == nullptr || get_size(owner, &size) != 0) {
    return {};
  }
  std::string text(size, '\0');
  return get(owner, text.data()) == 0 ? text : std::string();
}

void trim_end(std::string& text) {
  text.erase(std::ranges::find(text, '\0'), text.end());
}

int get_machine_code(const Library& library, void* program, char* code) {
  const int status = library.original<GetMachineCode>(Function::kGetMachineCode)(program, code);
  observe([&] {
    auto* const get_size = library.find<int(void*, std::size_t*)>("nvrtcGetCUBINSize");
    std::size_t size = 0;
    if (status != 0 || get_size == nullptr || get_size(program, &size) != 0) {
      return;
    }
    CodeOrigin origin;
    trim_end(
        origin.texts.emplace_back(text_of(library, program, "nvrtcGetPTXSize", "nvrtcGetPTX")));
    if (!origin.texts.front().empty()) {
      remember_origin({code, size}, std::move(origin));
    }
  });
  return status;
}

LinkInput kind_of(InputKind kind) {
  switch (kind) {
    case InputKind::kMachineCode:
      return LinkInput::kMachineCode;
    case InputKind::kPtx:
      return LinkInput::kPtx;
    case InputKind::kFatbin:
      return LinkInput::kFatbin;
    case InputKind::kObject:
      return LinkInput::kObject;
    case InputKind::kLibrary:
      return LinkInput::kLibrary;
    case InputKind::kIntermediate:
      break;
  }
  return LinkInput::kOther;
}

void note_input(const void* linker, int kind, std::span<const std::byte> bytes, const char* name) {
  const std::lock_guard lock(links().mutex);
  const auto link = links().by_linker.find(linker);
  if (link == links().by_linker.end()) {
    return;
  }
  const auto input = static_cast<InputKind>(kind);
  if (input == InputKind::kIntermediate) {
    link->second.intermediates.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                                            bytes.size());
  } else {
    add_input(link->second.origin, kind_of(input), bytes, name);
  }
}

int add_data(const Library& library, void* linker, int kind, const void* data, std::size_t size,
             const char* name) {
  const int status = library.original<AddData>(Function::kAddData)(linker, kind, data, size, name);
  observe([&] {
    if (status == 0) {
      note_input(linker, kind, {static_cast<const std::byte*>(data), size}, name);
    }
  });
  return status;
}

int add_file(const Library& library, void* linker, int kind, const char* path) {
  const int status = library.original<AddFile>(Function::kAddFile)(linker, kind, path);
  observe([&] {
    if (status != 0) {
      return;
    }
    const Expected<MappedFile> file = MappedFile::open(path);
    note_input(linker, kind, file ? file->bytes() : std::span<const std::byte>(), path);
  });
  return status;
}

int create_linker(const Library& library, void** linker, std::uint32_t count,
                  const char** options) {
  const int status =
      library.original<CreateLinker>(Function::kCreateLinker)(linker, count, options);
  observe([&] {
    if (status == 0) {
      const std::lock_guard lock(links().mutex);
      links().by_linker[*linker].options.assign(options, options + count);
    }
  });
  return status;
}

// The linker's PTX for LTO-IR: a second link, of that alone, which stops at PTX. Empty if it fails.
std::string link_to_ptx(const Library& library, const Link& link) {
  auto* const create = library.find<CreateLinker>("nvJitLinkCreate");
  auto* const add = library.find<AddData>("nvJitLinkAddData");
  auto* const complete = library.find<int(void*)>("nvJitLinkComplete");
  auto* const destroy = library.find<DestroyLinker>("nvJitLinkDestroy");
  if (create == nullptr || add == nullptr || complete == nullptr || destroy == nullptr) {
    return {};
  }
  std::vector<const char*> options{"-ptx"};
  std::ranges::transform(link.options, std::back_inserter(options), &std::string::c_str);
  ask_for_lines(options);
  void* linker = nullptr;
  if (create(&linker, static_cast<std::uint32_t>(options.size()), options.data()) != 0) {
    return {};
  }
  const bool is_linked =
      std::ranges::all_of(link.intermediates,
                          [&](const std::string& input) {
                            return add(linker, static_cast<int>(InputKind::kIntermediate),
                                       input.data(), input.size(), "intermediate") == 0;
                          }) &&
      complete(linker) == 0;
  std::string text;
  if (is_linked) {
    text = text_of(library, linker, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
  }
  destroy(&linker);
  return text;
}

int get_linked_code(const Library& library, void* linker, void* code) {
  const int status = library.original<GetLinkedCode>(Function::kGetLinkedCode)(linker, code);
  observe([&] {
    auto* const get_size = library.find<int(void*, std::size_t*)>("nvJitLinkGetLinkedCubinSize");
    std::size_t size = 0;
    if (status != 0 || get_size == nullptr || get_size(linker, &size) != 0) {
      return;
    }
    Link link;
    {
      const std::lock_guard lock(links().mutex);
      const auto known = links().by_linker.find(linker);
      if (known == links().by_linker.end()) {
        return;  // nobody saw what it was given
      }
      link = known->second;
    }
    if (!link.intermediates.empty()) {
      std::string text = link_to_ptx(library, link);
      trim_end(text);
      if (text.empty()) {
        link.origin.gap = "LTO-IR of which nvJitLink makes no PTX";
      }
      link.origin.texts.push_back(std::move(text));
    }
    remember_origin({static_cast<const char*>(code), size}, std::move(link.origin));
  });
  return status;
}

int destroy_linker(const Library& library, void** linker) {
  observe([&] {
    const std::lock_guard lock(links().mutex);
    links().by_linker.erase(linker == nullptr ? nullptr : *linker);
  });
  return library.original<DestroyLinker>(Function::kDestroyLinker)(linker);
}

// The hooks of the library at one index.
template <std::size_t kIndex>
void* hook_of(Function function) {
  const auto address = [](auto* hook) { return reinterpret_cast<void*>(hook); };
  switch (function) {
    case Function::kCompileProgram:
      return address(+[](void* program, int count, const char* const* options) {
        return compile_program(g_libraries[kIndex], program, count, options);
      });
    case Function::kGetMachineCode:
      return address(+[](void* program, char* code) {
        return get_machine_code(g_libraries[kIndex], program, code);
      });
    case Function::kCreateLinker:
      return address(+[](void** linker, std::uint32_t count, const char** options) {
        return create_linker(g_libraries[kIndex], linker, count, options);
      });
    case Function::kAddData:
      return address(
          +[](void* linker, int kind, const void* data, std::size_t size, const char* name) {
            return add_data(g_libraries[kIndex], linker, kind, data, size, name);
          });
    case Function::kAddFile:
      return address(+[](void* linker, int kind, const char* path) {
        return add_file(g_libraries[kIndex], linker, kind, path);
      });
    case Function::kGetLinkedCode:
      return address(+[](void* linker, void* code) {
        return get_linked_code(g_libraries[kIndex], linker, code);
      });
    case Function::kDestroyLinker:
      return address(+[](void** linker) { return destroy_linker(g_libraries[kIndex], linker); });
  }
  return nullptr;
}

constexpr std::array kHooks = {hook_of<0>, hook_of<1>, hook_of<2>, hook_of<3>};
static_assert(kHooks.size() == kMostLibraries, "each library has hooks of its own");

// "__nvJitLinkAddData_13_0" is nvJitLinkAddData for programs built with the header of CUDA 13.0.
std::optional<Function> find_function(std::string_view name) {
  if (name.starts_with("__nvJitLink")) {
    name.remove_prefix(2);
    name = name.substr(0, name.find('_'));
  }
  const auto* const found = std::ranges::find(kFunctions, name, &FunctionName::name);
  return found == kFunctions.end() ? std::nullopt : std::optional(found->function);
}

// The index of the library that holds this function; none where there are too many.
std::optional<std::size_t> library_of(void* function) {
  Dl_info info;
  if (dladdr(function, &info) == 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kMostLibraries; ++i) {
    Library& library = g_libraries.at(i);
    if (library.base == nullptr) {
      library.base = info.dli_fbase;
      library.handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    if (library.base == info.dli_fbase) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_compiler_name(const char* name) {
  const std::string_view text = name;
  return text.starts_with("nvrtc") || text.starts_with("nvJitLink") ||
         text.starts_with("__nvJitLink");
}

void* find_compiler_hook(const char* name, void* original) {
  const std::optional<Function> function = find_function(name);
  if (!function || original == nullptr) {
    return nullptr;
  }
  const std::lock_guard lock(links().mutex);
  const std::optional<std::size_t> index = library_of(original);
  if (!index) {
    return nullptr;
  }
  g_libraries.at(*index).originals.at(place_of(*function)).store(original);
  return kHooks.at(*index)(*function);
}

void* next_compiler_function(const char* name) {
  return real_dlsym(RTLD_NEXT, name);
}

void* compiler_function_for(const void* caller, const char* name) {
  Dl_info library;
  if (dladdr(caller, &library) == 0 || library.dli_fname == nullptr) {
    return nullptr;
  }
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return nullptr;
  }
  void* const function = real_dlsym(handle, name);
  dlclose(handle);  // it stays loaded: its code is running
  return function;
}

}  // namespace barracuda::preload
