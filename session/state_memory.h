// Device memory for what blocks keep: the states of words of shared memory
// (device_logger/shared_states.h), and who has come to a barrier (block_events.h); and for the
// states of memory that is watched (word_owners.h). Launches
// of one stream, which do not overlap, use one piece after the other. Made and destroyed while its
// context is current. Not thread-safe: its owner serialises.
#pragma once

#include <cstdint>
#include <vector>

#include "device_logger/shared_states.h"
#include "host_detector/launch.h"
#include "host_detector/stream_order.h"
#include "ptx/instrument.h"
#include "session/device_driver.h"

namespace barracuda::session {

class StateMemory {
 public:
  explicit StateMemory(DeviceDriver& driver) : driver_(driver) {}

  ~StateMemory();
  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;

  struct Request {
    const ptx::Kernel& kernel;
    detector::Dim3 grid;
    std::uint32_t dynamic_bytes = 0;  // of shared memory, of a block
    std::uint64_t watched_bytes = 0;
    Handle stream{};
    detector::StreamKey stream_key{};
  };

  struct States {
    wire::SharedStates of_blocks;
    std::uint64_t owners = 0;  // of what is watched; 0: it cannot be
  };

  // Zeroed behind the work that the stream has now. None if the kernel has no use for it or there
  // is no room: then all is logged.
  States acquire(const Request& request);
  // The launch is over.
  void release(const wire::SharedStates& states);

 private:
  struct Piece {
    std::uint64_t address = 0, bytes = 0;
    detector::StreamKey stream{};  // of the launches that are under way
    std::uint32_t launches = 0;
  };

  States acquire(const Request& request, std::uint64_t watched_bytes);
  // Null if there is no room.
  Piece* find(std::uint64_t bytes, detector::StreamKey stream);
  Piece* allocate(std::uint64_t bytes);

  DeviceDriver& driver_;
  std::vector<Piece> pieces_;
};

}  // namespace barracuda::session
