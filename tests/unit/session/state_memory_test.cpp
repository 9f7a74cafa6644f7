// Where the blocks of a launch keep what the logger keeps of them: in shared memory that they get
// besides the program's, or in device memory.
#include "session/state_memory.h"

#include <cstdint>

#include <catch2/catch.hpp>

#include "device_logger/shared_states.h"
#include "host_memory_driver.h"
#include "tests/unit/session/unlogged_device.h"

namespace barracuda::session {
namespace {

constexpr std::uint32_t kShared = 4096;  // static, of the kernel

ptx::Kernel kernel_with_states() {
  ptx::Kernel kernel;
  kernel.has_block_events = kernel.keeps_states = true;
  kernel.shared_bytes = kShared;
  kernel.state_granule_log2 = kernel.owner_granule_log2 = wire::SharedStates::kWordLog2;
  return kernel;
}

LaunchRequest launch_of(std::uint32_t blocks, std::uint32_t threads, std::uint32_t dynamic = 0) {
  LaunchRequest launch;
  launch.grid.x = blocks;
  launch.block.x = threads;
  launch.shared_bytes = dynamic;
  return launch;
}

class Acquired {
 public:
  Acquired(const ptx::Kernel& kernel, const LaunchRequest& launch, std::uint32_t most_shared,
           std::uint64_t watched = 0) {
    LaunchRequest request = launch;
    request.most_shared_bytes = most_shared;
    states = memory_.acquire(
        {.kernel = kernel, .launch = request, .watched_bytes = watched, .stream_key = {}});
  }

  ~Acquired() { memory_.release(states.of_blocks); }

  Acquired(const Acquired&) = delete;
  Acquired& operator=(const Acquired&) = delete;

  [[nodiscard]] std::uint32_t own_bytes() const { return states.of_blocks.own_bytes; }

  [[nodiscard]] std::uint64_t device_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [address, size] : driver_.blocks) {
      bytes += size;
    }
    return bytes;
  }

  StateMemory::States states;

 private:
  HostMemoryDriver driver_;
  StateMemory memory_{driver_};
};

constexpr std::uint32_t kMostShared = 44 * 1024;

}  // namespace

TEST_CASE("a block keeps header and states in shared memory of its own") {
  const Acquired acquired(kernel_with_states(), launch_of(1000, 256), kMostShared);
  const wire::SharedStates& states = acquired.states.of_blocks;
  CHECK(states.address != 0);
  CHECK(states.own_bytes == wire::block_bytes(states.window, states.granule_log2));
  CHECK(states.window >= kShared);
  CHECK(acquired.device_bytes() == wire::kEndedBlocksBytes);
}

TEST_CASE("what a block keeps is behind the program's dynamic memory") {
  const Acquired acquired(kernel_with_states(), launch_of(100, 64, 1001), kMostShared);
  CHECK(acquired.states.of_blocks.own_begin == 1008);
  CHECK(acquired.own_bytes() > wire::kStatesHeader);
}

TEST_CASE("states lie in device memory where they would take the cache, or the room, of a block") {
  const ptx::Kernel kernel = kernel_with_states();
  // 10 blocks of 64 threads run at once: 15 KiB each are more than half of 228 KiB.
  const Acquired many(kernel, launch_of(5000, 64), kMostShared);
  CHECK(many.own_bytes() == wire::kStatesHeader);
  CHECK(many.device_bytes() > 5000 * 2 * kShared);
  // So few of them are as good as alone.
  CHECK(Acquired(kernel, launch_of(132, 64), kMostShared).own_bytes() > wire::kStatesHeader);
  // The function is not set up for more.
  CHECK(Acquired(kernel, launch_of(132, 64), 8 * 1024).own_bytes() == wire::kStatesHeader);
  CHECK(Acquired(kernel, launch_of(132, 64, 8192), 8192).own_bytes() == 0);
}

TEST_CASE("a launch whose blocks the program has counted gets no more shared memory") {
  LaunchRequest cooperative = launch_of(132, 64);
  cooperative.is_cooperative = true;
  const Acquired acquired(kernel_with_states(), cooperative, kMostShared);
  CHECK(acquired.own_bytes() == 0);
  CHECK(acquired.states.of_blocks.blocks != 0);
  LaunchRequest clustered = launch_of(132, 64);
  clustered.cluster = detector::Dim3{.x = 2};
  CHECK(Acquired(kernel_with_states(), clustered, kMostShared).own_bytes() == 0);
}

TEST_CASE("what is watched has states and words in device memory") {
  ptx::Kernel kernel = kernel_with_states();
  kernel.keeps_states = false;
  const Acquired acquired(kernel, launch_of(1000, 256), kMostShared, 4096);
  CHECK(acquired.own_bytes() == wire::kStatesHeader);
  CHECK(acquired.states.owners ==
        acquired.states.of_blocks.address + wire::kEndedBlocksBytes + 2 * 4096);
  CHECK(acquired.device_bytes() == wire::kEndedBlocksBytes + 4 * 4096);
}

TEST_CASE("states take no more than a quarter of the device's memory") {
  constexpr std::uint64_t kWatched = 1 << 20;
  HostMemoryDriver driver;
  driver.device_bytes = 16 * kWatched;
  StateMemory small(driver);
  driver.device_bytes *= 2;
  StateMemory large(driver);
  CHECK(large.most_owner_bytes() == 4 * kWatched);
  ptx::Kernel kernel = kernel_with_states();
  kernel.keeps_states = false;
  const LaunchRequest launch = launch_of(1000, 256);
  const auto owners = [&](StateMemory& memory) {
    return memory
        .acquire({.kernel = kernel, .launch = launch, .watched_bytes = kWatched, .stream_key = {}})
        .owners;
  };
  CHECK(owners(small) == 0);
  CHECK(owners(large) != 0);
}

TEST_CASE("what a launch writes is watched where there is room for its states") {
  Device device;
  device.kernel.keeps_owners = true;
  device.kernel.owner_granule_log2 = 2;  // of each granule a state of 8 bytes
  const auto watched = [&](std::uint64_t room) {
    device.most_owner_bytes = room;
    return device.launch(detector::kLegacyStream, kIn, kOut).watched;
  };
  CHECK(watched(2 * kBytes + 1) == 1);
  CHECK(watched(2 * kBytes) == 0);
}

TEST_CASE("launches of one stream have the same memory, and those of two have not") {
  HostMemoryDriver driver;
  StateMemory memory(driver);
  const ptx::Kernel kernel = kernel_with_states();
  const auto acquire = [&](detector::StreamKey stream) {
    LaunchRequest launch = launch_of(100, 64);
    launch.most_shared_bytes = kMostShared;
    return memory.acquire({.kernel = kernel, .launch = launch, .stream_key = stream})
        .of_blocks.address;
  };
  const std::uint64_t first = acquire({});
  CHECK(acquire({}) == first);
  const std::uint64_t beside = acquire(detector::StreamKey{7});
  CHECK((beside != 0 && beside != first));
}

}  // namespace barracuda::session
