// NVRTC and nvJitLink make machine code in the process, of PTX that the program may never ask for.
// Their hooks remember it (code_origins.h), and let NVRTC write source lines. Neither library's
// header is needed: the few functions are declared here as they are called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace barracuda::preload {

using CompileProgram = int(void* program, int count, const char* const* options);
using GetMachineCode = int(void* program, char* code);
using CreateLinker = int(void** linker, std::uint32_t count, const char** options);
using AddData = int(void* linker, int kind, const void* data, std::size_t size, const char* name);
using AddFile = int(void* linker, int kind, const char* path);
using GetLinkedCode = int(void* linker, void* code);
using DestroyLinker = int(void** linker);

// A name of one of the two libraries, whether it is hooked or not.
bool is_compiler_name(const char* name);

// What stands before `original`, a function of that name; null if it is not hooked. Several
// versions of a library may be in one process, each with its own hooks.
void* find_compiler_hook(const char* name, void* original);

// The definition behind our own exports, null where there is none.
void* next_compiler_function(const char* name);
// The one that `caller` means, which a library that only it can see may define.
void* compiler_function_for(const void* caller, const char* name);

}  // namespace barracuda::preload
