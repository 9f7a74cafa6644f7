// What the driver answers about a kernel, by either of its handles. These need no current context.
#pragma once

#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {

CUresult function_attribute(int* value, CUfunction_attribute attribute, CUfunction handle);
CUresult set_function_attribute(CUfunction handle, CUfunction_attribute attribute, int value);
CUresult function_name(const char** name, CUfunction handle);
CUresult function_parameter(CUfunction handle, std::size_t index, std::size_t* offset,
                            std::size_t* size);

bool is_cache_config(CUfunc_cache config);

}  // namespace barracuda::emulator::driver
