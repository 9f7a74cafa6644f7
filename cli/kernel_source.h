// Where a kernel of the commands comes from: PTX, CUDA source, or a program; which of its
// functions, and whether arguments fit it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "cli/kernel_argument.h"
#include "ptx/parse.h"

namespace barracuda::cli {

bool is_cuda_source(const std::string& file);
// By its name, or because it is a program.
bool has_kernels(const std::string& file);

// With nvcc, which must be here. `stops`: asked now and then; true ends nvcc. Signals are then
// caught by catch_interruptions(); without it nvcc gets them.
Expected<void> compile_kernel(const std::string& source, const std::string& ptx,
                              const std::function<bool()>& stops = {});
// The PTX in which `kernel` is (empty: the only one), out of any of the three.
Expected<std::string> kernel_ptx(const std::string& file, const std::string& kernel,
                                 const std::function<bool()>& stops);

std::string short_name(const ptx::Function& function);
// The entry that `wanted` names, as in the PTX or as in the source; empty: the only one.
Expected<const ptx::Function*> find_entry(const ptx::Module& module, const std::string& wanted);
// One argument for each parameter, of its size.
Expected<std::vector<KernelArgument>> fit_arguments(const ptx::Function& entry,
                                                    const std::vector<std::string>& texts);

}  // namespace barracuda::cli
