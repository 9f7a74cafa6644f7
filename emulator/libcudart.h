// A libcudart: CUDA's runtime functions by their exported names, written over driver functions that
// are reached through a resolver only, so that hooks of the driver see what the runtime does.
// Usable before constructors have run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace barracuda::emulator::runtime {

// libcudart.so.13, libcudart.so.12, libcudart.so.11.0.
enum class Library : std::uint8_t { kCudart13, kCudart12, kCudart11 };

// As driver::find_function: implemented, or answers cudaErrorNotSupported and is counted; null for
// a name that the library does not export.
void* find_function(std::string_view exported_name, Library library = Library::kCudart13);

// The driver function of an exported name ("cuMemAlloc_v2"). Null for an unknown name.
using DriverResolver = void* (*)(const char* exported_name);
// The default resolves to the emulated driver itself. Functions are asked for at their first use,
// and again after this call.
void set_driver_resolver(DriverResolver resolver);

// Calls of functions that are not implemented, by exported name.
std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls();

// Launches of kernels whose module could not be loaded, by mangled name.
std::vector<std::pair<std::string, std::uint64_t>> refused_launches();

}  // namespace barracuda::emulator::runtime
