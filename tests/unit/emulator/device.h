// A machine with one loaded module, for tests: buffers of host values in device memory, launches
// with packed arguments.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "emulator/machine.h"

namespace barracuda::emulator::test {

class Device {
 public:
  explicit Device(std::string ptx, const MachineOptions& options = {}) : machine_(options) {
    auto loaded = machine_.load(std::move(ptx));
    if (!loaded) {
      FAIL(loaded.error().to_string());
    }
    module_ = *loaded;
  }

  Machine& machine() { return machine_; }

  const LoadedModule& module() { return *module_; }

  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    const std::uint64_t bytes = values.size() * sizeof(T);
    auto address = machine_.memory().allocate(bytes, AllocationKind::kDevice);
    REQUIRE(address);
    std::memcpy(reinterpret_cast<void*>(*address), values.data(), bytes);
    return *address;
  }

  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), reinterpret_cast<const void*>(address), count * sizeof(T));
    return values;
  }

  template <class... Arguments>
  DeviceError run(std::string_view kernel, const LaunchConfig& config, Arguments... arguments) {
    const LoadedKernel* found = Machine::find_kernel(*module_, kernel);
    REQUIRE(found != nullptr);
    std::vector<std::byte> parameters;
    (append(parameters, arguments), ...);
    return machine_.launch(*found, config, parameters);
  }

  // For launches that are run in pieces.
  template <class... Arguments>
  std::unique_ptr<RunningLaunch> begin(std::string_view kernel, const LaunchConfig& config,
                                       Arguments... arguments) {
    const LoadedKernel* found = Machine::find_kernel(*module_, kernel);
    REQUIRE(found != nullptr);
    std::vector<std::byte> parameters;
    (append(parameters, arguments), ...);
    DeviceError error;
    auto launch = machine_.begin(*found, config, parameters, error);
    INFO(error.message);
    REQUIRE(launch != nullptr);
    return launch;
  }

  // For launches that must succeed.
  template <class... Arguments>
  void run_well(std::string_view kernel, const LaunchConfig& config, Arguments... arguments) {
    const DeviceError error = run(kernel, config, arguments...);
    INFO(error.message);
    REQUIRE(error.code == DeviceErrorCode::kNone);
  }

 private:
  template <class T>
  static void append(std::vector<std::byte>& parameters, T value) {
    parameters.resize((parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    parameters.insert(parameters.end(), bytes, bytes + sizeof(T));
  }

  Machine machine_;
  std::shared_ptr<LoadedModule> module_;
};

inline LaunchConfig shape(Dim3 grid, Dim3 block, std::uint32_t shared = 0) {
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.cluster = Dim3{1, 1, 1};
  config.dynamic_shared_bytes = shared;
  return config;
}

// A module with one kernel `k` that gets a pointer and whose body is given; %out is the pointer
// plus 8 bytes for each thread of the grid, %tid its index in the grid.
inline std::string kernel_text(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + before +
         R"(
.visible .entry k(.param .u64 k_param_0)
{
  .reg .pred %p<20>;
  .reg .b16 %h<20>;
  .reg .b32 %r<40>;
  .reg .f32 %f<20>;
  .reg .b64 %d<40>;
  .reg .f64 %fd<20>;
  .reg .b64 %out, %base;
  .reg .b32 %thread, %a0, %a1;
  ld.param.u64 %base, [k_param_0];
  mov.u32 %a0, %ctaid.x;
  mov.u32 %a1, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %thread, %a0, %a1, %thread;
  mul.wide.u32 %out, %thread, 8;
  add.u64 %out, %base, %out;
)" + body +
         "\n  ret;\n}\n";
}

// What each thread stores of kernel_text's result.
inline std::vector<std::uint64_t> run_lanes(const std::string& body, std::uint32_t threads,
                                            const std::string& before = "",
                                            std::uint32_t blocks = 1) {
  Device device(kernel_text(body, before));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(threads * blocks, 0));
  device.run_well("k", shape({blocks}, {threads}), out);
  return device.read<std::uint64_t>(out, threads * blocks);
}

}  // namespace barracuda::emulator::test
