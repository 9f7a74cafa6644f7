// A CTA in execution: its warps, shared memory and barriers. Only one worker has it at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine.h"
#include "emulator/state/tensor_memory.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

inline constexpr std::uint32_t kBarriers = 16;
inline constexpr std::uint32_t kClusterBarrier = kBarriers;  // Fragment::barrier of its waits
// For %reserved_smem_offset: behind the program's shared memory; zero when the CTA starts.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;

// Far enough behind that an access just beyond the program's own memory does not hit it.
constexpr std::uint32_t reserved_shared_offset(std::uint32_t shared_bytes) {
  return (shared_bytes + 15) / 16 * 16 + 1024;
}

static_assert(reserved_shared_offset(1) == 16 + 1024 && reserved_shared_offset(16) == 16 + 1024);

struct Barrier {
  std::uint32_t expected = 0;  // threads; 0: all of the CTA that have not exited
  bool is_used = false;
  bool all = true, any = false;
  std::uint32_t population = 0;
  std::vector<std::uint32_t> arrived;  // lanes by warp
};

struct Cluster;
class WeakState;

struct Cta {
  std::uint64_t number = 0;  // linear index in the grid
  Dim3 index;
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;  // in it
  std::uint32_t live_warps = 0;
  std::size_t next_warp = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::unique_ptr<std::byte[]> shared;
  std::uint32_t shared_bytes = 0;  // static and dynamic
  std::array<Barrier, kBarriers> barriers;
  std::unique_ptr<TensorMemory> tensor_memory;  // null: it was not used
  StoreBuffer weak_buffer;                      // of stores that its threads see and others do not
  const WeakState* weak = nullptr;              // the launch's
};

// Lanes of a warp that reach a barrier.
struct Arrival {
  Warp* warp = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t barrier = 0;
  std::uint32_t expected = 0;
  std::uint32_t predicate = 0;  // for reductions
};

// Counts the arrival and, if it completes the barrier, lets all who wait there go on.
void arrive(Cta& cta, const Arrival& arrival);
// Opens the barriers at which, once `warp` has lost lanes, all others have arrived.
void complete_after_exit(Cta& cta);
// Forgets arrivals that were not waited for.
void reset_barriers(Cta& cta);

}  // namespace barracuda::emulator
