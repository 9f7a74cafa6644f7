// Whether a warp does nothing but poll: what it has read since something happened in its cluster.
// It polls if it has read the same bytes again and again; only a change of these bytes can then let
// it go on (or its own patience: a loop that counts its tries looks alike).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

namespace barracuda::emulator {

class Memory;

class PollWatch {
 public:
  static constexpr std::uint32_t kMostBytes = 32;  // of one access of a lane

  // A lane's access: its bytes as they were before it.
  struct Seen {
    std::uint64_t address = 0;  // of the host
    std::uint32_t bytes = 0;
    bool is_global = false;  // it may go while the warp is there
    std::array<std::byte, kMostBytes> value{};
  };

  // Nothing has been seen yet.
  void reset();
  // How often something has happened in the cluster: what was done again before the last time does
  // not count.
  void follow(std::uint64_t changes);
  // Lanes read these bytes, or wrote what was there. False: it is not what they had found before.
  bool note_access(const Seen& seen);

  // These lanes have done again what they must do again and again to be polling: an access, or a
  // meeting with other threads.
  void note_lanes(std::uint32_t lanes) { lanes_ |= lanes; }

  // Whether lanes of which each has to poll do nothing else.
  [[nodiscard]] bool is_polling(std::uint32_t lanes, std::uint64_t changes) const;
  // Memory is no longer what it was when it was read.
  [[nodiscard]] bool is_outdated(const Memory& memory) const;

 private:
  struct Value {
    std::uint32_t bytes = 0;
    bool is_global = false;
    std::array<std::byte, kMostBytes> value{};
  };

  boost::unordered_flat_map<std::uint64_t, Value> values_;  // by address
  std::uint64_t repeats_ = 0;  // accesses that found what was there before
  std::uint64_t changes_ = 0;
  std::uint32_t lanes_ = 0;
};

}  // namespace barracuda::emulator
