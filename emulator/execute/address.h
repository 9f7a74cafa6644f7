// From a lane's address to a host pointer, for accesses that the quick checks in
// lanes/addresses.h do not let through.
#pragma once

#include <cstdint>

#include "emulator/state/context.h"

namespace barracuda::emulator {

struct Access {
  std::uint32_t bytes = 0;  // of all elements; also the alignment
  bool is_write = false;
};

// Host addresses in place of device addresses, for the lanes of `mask`. False: the launch has
// failed. Of `local_lanes`, whose memory is interleaved, element k lies at local_step(k * size).
bool resolve_lanes(Context& context, const Instruction& instruction, std::uint32_t mask,
                   const Access& access, std::uint64_t* addresses, std::uint32_t& local_lanes);

constexpr std::uint64_t local_step(std::uint64_t byte) {
  return byte / 8 * 256 + byte % 8;
}

// One lane's generic or global address, for builtins; null if it cannot be accessed.
const std::byte* host_pointer(Context& context, std::uint64_t address, std::uint32_t bytes,
                              int lane);

}  // namespace barracuda::emulator
