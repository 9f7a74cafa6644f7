// Machine code of instrumented PTX, for the driver to load in place of the text: from jit-cache, or
// made by the compiler beside this library (docs/decisions/jit-cache.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "preload/jit_options.h"
#include "session/session.h"

namespace barracuda::preload {

// At the first call, where the program loads all that it has (CUDA_MODULE_LOADING=EAGER): starts to
// compile the images of its executable, several at a time. `options` are those of the first load.
void compile_program_ahead(session::Session& session, const JitOptions& options);

// Whether anything is compiled here; else all is the driver's.
bool compiles_here();

// Where something is compiled here: starts to compile these, which stay where they are, several at
// a time. The options are those that they will be asked for with.
void compile_ahead(std::span<const std::string_view> texts, const JitOptions& options,
                   bool is_library);

// CUDA_MODULE_LOADING=EAGER: the program asks for all its kernels when it starts.
bool loads_all_at_once();

// For the device of the current context; a library's for every device that there is. Empty where it
// cannot be had so: then the driver is to compile the text itself, and to say what is wrong with
// it. Stays where it is until the process ends: CUDA's runtime tells the driver to copy no images.
std::string_view find_machine_code(const std::string& text, const JitOptions& options,
                                   bool is_library);

// Whether that would neither compile nor wait.
bool has_machine_code(const std::string& text, const JitOptions& options, bool is_library);

// The driver has refused it, and taken the text or not: it is not to be found again.
void forget_machine_code(const std::string& text, const JitOptions& options, bool is_library,
                         bool takes_text);

}  // namespace barracuda::preload
