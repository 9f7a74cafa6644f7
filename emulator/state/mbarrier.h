// The 64-bit object of mbarrier instructions, which lies in shared memory: arrivals that are
// pending, the count that each phase starts with, the bytes that copies still owe, and the phase's
// parity. Changed by atomic operations of the host only, since CTAs of other workers may read it.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

inline constexpr std::uint32_t kMaximumMbarrierCount = (std::uint32_t{1} << 20) - 1;

struct Mbarrier {
  std::uint32_t pending = 0;
  std::uint32_t expected = 0;
  std::int64_t owed_bytes = 0;
  bool parity = false;
  bool is_valid = false;

  static Mbarrier unpack(std::uint64_t word);
  [[nodiscard]] std::uint64_t pack() const;
};

// In this order: bytes are expected, arrivals are added and dropped, arrivals and bytes counted.
struct MbarrierChange {
  std::int64_t transaction_bytes = 0;
  std::uint32_t arrivals = 0;
  std::uint32_t added = 0;    // pending arrivals that come in addition
  std::uint32_t dropped = 0;  // of the count of later phases
};

enum class MbarrierResult : std::uint8_t { kDone, kInvalid, kTooManyArrivals };

void initialise_mbarrier(std::uint64_t* word, std::uint32_t count);
// `before`, where asked for, gets the word as it was.
MbarrierResult change_mbarrier(std::uint64_t* word, const MbarrierChange& change,
                               std::uint64_t* before = nullptr);
std::uint64_t read_mbarrier(const std::uint64_t* word);

}  // namespace barracuda::emulator
