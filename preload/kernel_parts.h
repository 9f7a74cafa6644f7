// Kernels of modules that were loaded in parts (session/split_image.h). The program asks the driver
// for a kernel of the base, where it is empty; it gets that of the kernel's own part, which is
// compiled and loaded at that moment.
#pragma once

#include <string>

#include "preload/guard.h"
#include "preload/hooks.h"
#include "preload/jit_options.h"
#include "session/module_registry.h"

namespace barracuda::preload {

// Whether an image may be loaded in parts with these options: none of them is of one load alone.
bool may_load_in_parts(const session::ProgramImage& image, const JitOptions& options);

// The base of an image was loaded.
void base_loaded(session::Handle module, const JitOptions& options);

// If the image has few kernels, its parts are compiled now, at the same time and while the program
// goes on.
void compile_parts_ahead(const session::ProgramImage& image, bool is_library,
                         const JitOptions& options);

struct PartKernel {
  CUresult status = CUDA_SUCCESS;
  session::Handle kernel{};  // 0: the driver's own is right
  session::LoadedPart part;
  std::string refusal;
};

// Of a module or library of the program's.
PartKernel find_part(const HookScope& scope, session::Handle owner, const char* name);

// A function of the current context of a library's kernel; null if it cannot be had.
CUfunction function_of_kernel(session::Handle kernel);

// Before the module or library itself is unloaded.
void unload_parts(session::Handle module);

}  // namespace barracuda::preload
