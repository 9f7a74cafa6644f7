// The hooked functions of NVRTC and nvJitLink under their own names, for programs that are linked
// with these libraries. Where there is no such library, dlsym finds none of them
// (loader_hooks.cpp).
#include <atomic>

#include "preload/compiler_hooks.h"

namespace barracuda::preload {
namespace {

// Of either library: an internal error.
constexpr int kNoLibrary = 11;

template <typename Signature>
Signature* hooked(const char* name, void* original) {
  void* const hook = find_compiler_hook(name, original);
  return reinterpret_cast<Signature*>(hook == nullptr ? original : hook);
}

template <typename Signature, typename... Arguments>
int call(std::atomic<Signature*>& known, const char* name, const void* caller,
         Arguments... arguments) {
  Signature* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = hooked<Signature>(name, next_compiler_function(name));
    known.store(function, std::memory_order_relaxed);
  }
  if (function == nullptr) {
    function = hooked<Signature>(name, compiler_function_for(caller, name));
  }
  return function == nullptr ? kNoLibrary : function(arguments...);
}

}  // namespace
}  // namespace barracuda::preload

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the libraries' names
#define EXPORT(name, type, parameters, ...)                                                     \
  extern "C" [[gnu::visibility("default")]] int name parameters {                               \
    static std::atomic<barracuda::preload::type*> known;                                        \
    return barracuda::preload::call(                                                            \
        known, #name, __builtin_extract_return_addr(__builtin_return_address(0)), __VA_ARGS__); \
  }
EXPORT(nvrtcCompileProgram, CompileProgram, (void* program, int count, const char* const* options),
       program, count, options)
EXPORT(nvrtcGetCUBIN, GetMachineCode, (void* program, char* code), program, code)

#define LINKER_EXPORTS(prefix, suffix)                                                           \
  EXPORT(prefix##nvJitLinkCreate##suffix, CreateLinker,                                          \
         (void** linker, std::uint32_t count, const char** options), linker, count, options)     \
  EXPORT(prefix##nvJitLinkAddData##suffix, AddData,                                              \
         (void* linker, int kind, const void* data, std::size_t size, const char* name), linker, \
         kind, data, size, name)                                                                 \
  EXPORT(prefix##nvJitLinkAddFile##suffix, AddFile, (void* linker, int kind, const char* path),  \
         linker, kind, path)                                                                     \
  EXPORT(prefix##nvJitLinkGetLinkedCubin##suffix, GetLinkedCode, (void* linker, void* code),     \
         linker, code)                                                                           \
  EXPORT(prefix##nvJitLinkDestroy##suffix, DestroyLinker, (void** linker), linker)
LINKER_EXPORTS(, )
// A program calls the names of the header that it was built with.
LINKER_EXPORTS(__, _13_0)
LINKER_EXPORTS(__, _13_1)
LINKER_EXPORTS(__, _13_2)
LINKER_EXPORTS(__, _13_3)
LINKER_EXPORTS(__, _13_4)
LINKER_EXPORTS(__, _13_5)
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
