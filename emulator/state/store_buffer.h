// Stores that wait: of a thread, visible to it alone; of a block, visible to its threads; and those
// that ended blocks have left, which no thread sees yet. Accesses are aligned to their size and at
// most 16 bytes wide (wider ones are two), so that two overlap only within one granule of 16 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/state/weak_site.h"

namespace barracuda::emulator {

inline constexpr std::uint32_t kGranuleBytes = 16;

using Granule = std::array<std::byte, kGranuleBytes>;

constexpr std::uint64_t granule_of(std::uint64_t address) {
  return address / kGranuleBytes;
}

// The bytes of its granule that an access touches.
constexpr std::uint16_t mask_of(std::uint64_t address, std::uint32_t bytes) {
  return static_cast<std::uint16_t>(((std::uint32_t{1} << bytes) - 1) << (address % kGranuleBytes));
}

static_assert(mask_of(16, 16) == 0xffff && mask_of(4, 4) == 0xf0);

using StoreId = std::uint32_t;
struct WeakThread;

struct StoreBuffer {
  std::vector<StoreId> stores;  // in no order
  StoreBuffer* next = nullptr;  // where they go from here; null: to memory
  WeakThread* owner = nullptr;  // of a thread's
};

// Which thread of a launch.
struct ThreadName {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;

  friend bool operator==(const ThreadName&, const ThreadName&) = default;
};

struct PendingStore {
  std::uint64_t address = 0;  // on the host
  std::uint32_t bytes = 0;
  std::uint16_t mask = 0;
  Granule value{};            // at the bytes of the mask
  std::uint64_t serial = 0;   // of all stores that were ever delayed; 0: the element is free
  std::uint64_t turn = 0;     // of the schedule, in which it was delayed
  std::uint64_t number = 0;   // of the decision; 0: the second half of another
  std::uint64_t visible = 0;  // the moment from which its block sees it; 0: it does not yet
  std::uint64_t logged_address = 0;
  std::uint32_t logged_bytes = 0;
  ThreadName thread;
  StoreBuffer* buffer = nullptr;
  std::uint32_t position = 0;  // in it
  const WeakSite* site = nullptr;
  WeakSpace space = WeakSpace::kGlobal;
  bool is_own_shared = false;  // of the thread's own block
  bool is_held = false;        // until another thread has accessed the bytes
  ThreadName reader, poller;
  const WeakSite* reader_site = nullptr;  // null: nobody has read the old value
  const WeakSite* poller_site = nullptr;
  std::uint32_t polls = 0;  // by `poller`, one after the other
};

// All that wait in a launch, by granule.
class PendingStores {
 public:
  using Chain = std::vector<StoreId>;  // in the order in which they came to where they wait

  StoreId add(const PendingStore& store, StoreBuffer& buffer);
  // Behind what waits there already.
  void move(StoreId id, StoreBuffer& buffer);
  void remove(StoreId id);

  PendingStore& operator[](StoreId id) { return pool_[id]; }

  const PendingStore& operator[](StoreId id) const { return pool_[id]; }

  // Null: nothing waits there.
  [[nodiscard]] const Chain* at(std::uint64_t granule) const;

  [[nodiscard]] std::size_t size() const { return pool_.size() - free_.size(); }

  // Some of `buffer` wait at the bytes of `mask`.
  [[nodiscard]] bool waits_in(const StoreBuffer& buffer, std::uint64_t granule,
                              std::uint16_t mask) const;
  // Those of `buffer` that must leave it before a store to the bytes of `mask` can: they overlap
  // it or, among them, each other. In their order; `mask` grows by their bytes.
  void collect_overlapping(const StoreBuffer& buffer, std::uint64_t granule, std::uint16_t& mask,
                           std::vector<StoreId>& found) const;
  // The same of a store that waits itself; it comes last.
  void collect_before(StoreId id, std::uint16_t& mask, std::vector<StoreId>& found) const;

 private:
  // It is where its buffer and its granule's chain have it, once.
  [[nodiscard]] bool is_valid(StoreId id) const;
  void put(StoreId id, StoreBuffer& buffer);
  void take(StoreId id);
  void collect(const StoreBuffer& buffer, const Chain& chain, std::size_t end, std::uint16_t& mask,
               std::vector<StoreId>& found) const;

  std::vector<PendingStore> pool_;
  std::vector<StoreId> free_;
  boost::unordered_flat_map<std::uint64_t, Chain> chains_;
};

}  // namespace barracuda::emulator
