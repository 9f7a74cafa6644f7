// A libcuda over one emulated device: CUDA's driver functions by their exported names. Work mostly
// runs in the call that submits it (stream/queue.h). Usable before constructors have run.
// configure() must come before the first call that needs the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tensor_map.h"
#include "emulator/machine.h"

namespace barracuda::emulator::driver {

// The function that libcuda exports under this name, with libcuda's ABI: implemented, or one that
// answers CUDA_ERROR_NOT_SUPPORTED and is counted. Null for a name that libcuda does not export.
// Each name has an address of its own, _ptsz and _ptds forms too.
void* find_function(std::string_view exported_name);

// The exported name that cuGetProcAddress means by a symbol if it is asked for `cuda_version`
// (12040 is 12.4) and, if per_thread, for the per-thread default stream; or empty.
std::string_view exported_name(std::string_view symbol, int cuda_version, bool per_thread);

// Whether the name is that of a function's form for the thread's own default stream.
constexpr bool is_per_thread_form(std::string_view exported_name) {
  return exported_name.ends_with("_ptsz") || exported_name.ends_with("_ptds");
}

void configure(const MachineOptions& options);
// Made at first use and never destroyed: functions may still be called while the process exits.
Machine& machine();

// Called when a kernel has ended with an error, on the thread that ran it last: mostly before the
// launch returns. `function` is the CUfunction that was launched, `tag` the tagger's answer when
// it was. Null: nobody.
using LaunchFailureHandler = void (*)(const DeviceError& error, const void* function,
                                      std::string_view kernel_name, std::uint64_t tag);
void set_launch_failure_handler(LaunchFailureHandler handler);
// Called on the launching thread for what the failure handler shall know a launch by.
using LaunchTagger = std::uint64_t (*)();
void set_launch_tagger(LaunchTagger tagger);

// Called for each tensor map that a kernel has changed, on the thread that executes it: its 128
// bytes, and what they mean. Null: nobody.
void set_tensor_map_handler(void (*handler)(const void* bytes, const TensorMap& map));

// Where a CUarray lies in the device's memory; nothing if it is none.
struct ArrayMemory {
  std::uint64_t address = 0, bytes = 0;
  std::size_t row_bytes = 0, rows = 0;  // rows of a slice
};

std::optional<ArrayMemory> memory_of_array(const void* handle);

// The process ends: runs what will end by itself, and ends kernels whose threads only poll.
void end_unfinished_launches();

// Calls of functions that are not implemented, by exported name.
std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls();
// Why images were not loaded, one sentence each: "no PTX in the image (sm_90 machine code only)".
std::vector<std::string> refused_images();

}  // namespace barracuda::emulator::driver
