// The functions that libbarracuda.so exports: one trampoline for each name of libcudart and
// libcuda, which jumps through a slot. A slot resolves at its first call, also before any
// constructor has run: barracuda_resolve_export must therefore rely on no dynamically initialised
// object.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/libcudart.h"

namespace barracuda::preload {

// What the export stands in for. A name of several libcudarts is several exports: NVIDIA's may be
// loaded side by side.
enum class ExportLibrary : std::uint8_t { kCudart13, kCudart12, kCudart11, kCuda };

unsigned export_count();
std::string_view export_name(unsigned index);
ExportLibrary export_library(unsigned index);
// The emulated device's in its place; of a libcudart.
emulator::runtime::Library emulated_runtime(ExportLibrary library);

// The trampoline itself: what the dynamic linker hands out for the name.
void* export_address(unsigned index);

}  // namespace barracuda::preload

// Where the export leads; never null. Called once for each name, or by several threads at the same
// time, which must get the same answer. Defined by the library that links the exports.
extern "C" void* barracuda_resolve_export(unsigned index);
