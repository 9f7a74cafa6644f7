// Where blocks keep the states of words of shared memory (device_logger/shared_states.h), and who
// has come to a barrier (block_events.h): in shared memory that is added to theirs, or in device
// memory. There too the states of memory that is watched (word_owners.h). Launches of one stream,
// which do not overlap, use one piece of device memory after the other. Made and destroyed while
// its context is current. Not thread-safe: its owner serialises.
#pragma once

#include <cstdint>
#include <vector>

#include "device_logger/shared_states.h"
#include "host_detector/launch.h"
#include "host_detector/stream_order.h"
#include "ptx/instrument.h"
#include "session/device_driver.h"
#include "session/launch_request.h"

namespace barracuda::session {

class StateMemory {
 public:
  explicit StateMemory(DeviceDriver& driver);
  ~StateMemory();
  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;

  struct Request {
    const ptx::Kernel& kernel;
    const LaunchRequest& launch;
    std::uint64_t watched_bytes = 0;
    detector::StreamKey stream_key{};
  };

  struct States {
    wire::SharedStates of_blocks;
    std::uint64_t owners = 0;  // of what is watched; 0: it cannot be
  };

  // The states of what one launch watches may take so much: their words take as much again.
  [[nodiscard]] std::uint64_t most_owner_bytes() const { return most_bytes_ / 2; }

  // For the first launch, which would have to wait until there is memory.
  void reserve();

  // Device memory is zeroed behind the work that the stream has now. None if the kernel has no use
  // for it or there is no room: then all is logged.
  States acquire(const Request& request);
  // The launch is over.
  void release(const wire::SharedStates& states);

 private:
  struct Piece {
    DevicePointer memory{};
    std::uint64_t bytes = 0;
    detector::StreamKey stream{};  // of the launches that are under way
    std::uint32_t launches = 0;
  };

  States acquire(const Request& request, std::uint64_t watched_bytes);
  // Of shared memory, for a header and states, or for a header alone, or none.
  [[nodiscard]] std::uint32_t own_bytes(const Request& request, std::uint32_t window) const;
  // Whether as many blocks as there may be otherwise have room on one multiprocessor, and its
  // cache.
  [[nodiscard]] bool have_room(const Request& request, std::uint64_t bytes) const;
  bool clear(Handle stream, DevicePointer piece, std::uint64_t begin, std::uint64_t end) const;
  // Null if there is no room.
  Piece* find(std::uint64_t bytes, detector::StreamKey stream);
  Piece* allocate(std::uint64_t bytes);

  DeviceDriver& driver_;
  const std::uint64_t most_bytes_;  // of all pieces
  std::vector<Piece> pieces_;
};

}  // namespace barracuda::session
