// S of memory locations (BARRACUDA, PLDI 2017, Figure 3): for each block the clock that it was
// released with last. A release replaces what was there; one at global scope for all blocks.
#pragma once

#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "device_logger/site_info.h"
#include "host_detector/clock/clock.h"

namespace barracuda::detector::paper {

class SyncClocks {
 public:
  // The block that releases or acquires, and how many blocks its grid has.
  struct Block {
    CtaKey key{};
    std::uint64_t grid = 1;
  };

  struct Bytes {
    std::uint64_t address = 0;
    std::uint32_t count = 0;
  };

  // What ACQBLOCK and ACQGLOBAL join into C_t.
  [[nodiscard]] Clock acquired(const Bytes& bytes, const Block& by, wire::FenceScope scope) const;
  // What an atomic that says itself that it releases adds: it follows on releases that it read.
  void add(const Bytes& bytes, const Block& by, wire::FenceScope scope, const Clock& clock);
  // RELBLOCK and RELGLOBAL.
  void release(const Bytes& bytes, const Block& by, wire::FenceScope scope, const Clock& clock);

  struct Scopes {
    wire::FenceScope acquires{}, releases{};
  };

  // The release of ACQRELBLK and ACQRELGLB, whose acquire is recorded apart, after it: what it
  // releases has acquired what was there.
  void acquire_and_release(const Bytes& bytes, const Block& by, const Scopes& scopes,
                           const Clock& clock);
  void forget(std::uint64_t address, std::uint64_t bytes);

  void clear() { locations_.clear(); }

 private:
  struct Location {
    Clock everywhere;  // of blocks that have none of their own
    boost::unordered_flat_map<CtaKey, Clock> blocks;
  };

  [[nodiscard]] static Clock of_block(const Location& location, const Block& block);
  [[nodiscard]] static Clock of_grid(const Location& location, const Block& block);

  boost::unordered_flat_map<std::uint64_t, Location> locations_;  // by byte
};

}  // namespace barracuda::detector::paper
