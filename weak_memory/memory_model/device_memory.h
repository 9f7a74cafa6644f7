// The memory that the device's model (device_model.h) has: a store waits in its thread's buffer,
// then in its block's, then it is in memory; and what a thread may still read though it is past.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/memory_model/outlook.h"
#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/reached_barriers.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

struct BufferedStore {
  std::uint32_t location = 0;
  std::uint64_t value = 0;
};

using StoreBuffer = std::vector<BufferedStore>;  // oldest first

bool waits_in(const StoreBuffer& buffer, std::size_t location);
Locations locations_of(const StoreBuffer& buffer);
void encode_buffer(const StoreBuffer& buffer, StateBytes& bytes);

struct DeviceThread {
  std::uint32_t next = 0;  // instruction
  StoreBuffer buffer;
  std::vector<std::uint32_t> late;  // loads that were issued and have not taken place; sorted
  // By location: what it may still read though it is older than what its block sees, oldest
  // first, no value twice in a row. Empty where no load can ask for it any more.
  std::vector<std::vector<std::uint64_t>> past;
};

struct DeviceState {
  std::vector<DeviceThread> threads;
  Outcome registers;
  std::vector<StoreBuffer> blocks;
  std::vector<std::uint64_t> memory;
  ReachedBarriers reached;
};

class DeviceMemory {
 public:
  // The program must outlive it.
  explicit DeviceMemory(const Program& program);

  [[nodiscard]] std::size_t blocks() const { return threads_in_.size(); }

  [[nodiscard]] std::size_t block_of(std::size_t thread) const { return block_[thread]; }

  // One of them.
  [[nodiscard]] std::size_t thread_of(std::size_t block) const { return representative_[block]; }

  // No store waits for a block whose threads may not see it earlier than others.
  [[nodiscard]] bool is_valid(const DeviceState& state) const;

  // Where stores of a thread go next: to memory, if no other thread may see them earlier.
  [[nodiscard]] bool skips_block(std::size_t thread, std::size_t location) const;
  [[nodiscard]] std::uint64_t seen(const DeviceState& state, std::size_t thread,
                                   std::size_t location) const;
  // Whether all that the thread knows of is seen by the scope.
  [[nodiscard]] bool is_drained(const DeviceState& state, std::size_t thread, Scope scope) const;

  // The thread's oldest store of the location goes to its block, the block's to memory.
  void publish(DeviceState& state, std::size_t thread, std::size_t location) const;
  void commit(DeviceState& state, std::size_t block, std::size_t location) const;
  void write(DeviceState& state, std::size_t location, std::uint64_t value) const;

  // What the block sees of the location, and what of it waits there.
  static std::size_t cell_of(std::size_t block, std::size_t location) {
    return block * kMostLocations + location;
  }

  [[nodiscard]] Cells cells_of_all(std::size_t location) const;
  [[nodiscard]] Cells cells_of_block(std::size_t block) const;

 private:
  [[nodiscard]] std::uint64_t seen_by_block(const DeviceState& state, std::size_t block,
                                            std::size_t location) const;
  [[nodiscard]] std::vector<std::uint64_t> seen_by_blocks(const DeviceState& state,
                                                          std::size_t location) const;
  // What the threads of a block, or of all, would have read before is past from now on.
  void note_change(DeviceState& state, std::size_t block, std::size_t location,
                   std::uint64_t before) const;
  void note_changes(DeviceState& state, std::size_t location,
                    const std::vector<std::uint64_t>& before) const;

  const Program& program_;
  std::vector<std::size_t> block_;           // by thread
  std::vector<std::size_t> threads_in_;      // by block
  std::vector<std::size_t> representative_;  // a thread of each block
};

}  // namespace barracuda::memory_model
