// One launch of a litmus test, as the devices take it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weak_memory/litmus_run.h"
#include "weak_memory/stress/litmus_launch.h"

namespace barracuda::weak_memory {

struct LitmusJob {
  stress::LitmusLaunch launch;  // without addresses
  std::uint32_t blocks = 1, threads = 32;
  std::uint64_t seed = 1;  // of this launch
  bool weak = false;
  bool wants_memory = false;  // at the end
  // Words: all iterations, and for each block its role.
  std::vector<std::uint32_t> initial, memory, registers, roles;
};

std::unique_ptr<LitmusDevice> emulated_litmus_device();
Expected<std::unique_ptr<LitmusDevice>> gpu_litmus_device();

}  // namespace barracuda::weak_memory
