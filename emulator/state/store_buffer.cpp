#include "emulator/state/store_buffer.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::emulator {

void PendingStores::put(StoreId id, StoreBuffer& buffer) {
  PendingStore& store = pool_[id];
  store.buffer = &buffer;
  store.position = static_cast<std::uint32_t>(buffer.stores.size());
  buffer.stores.push_back(id);
  chains_[granule_of(store.address)].push_back(id);
  DEBUG_ASSERT(is_valid(id));
}

bool PendingStores::is_valid(StoreId id) const {
  const PendingStore& store = pool_[id];
  const Chain* const chain = at(granule_of(store.address));
  return store.serial != 0 && store.buffer != nullptr &&
         store.position < store.buffer->stores.size() &&
         store.buffer->stores[store.position] == id && chain != nullptr &&
         std::ranges::count(*chain, id) == 1;
}

void PendingStores::take(StoreId id) {
  PendingStore& store = pool_[id];
  auto& stores = store.buffer->stores;
  ASSERT(store.serial != 0 && store.position < stores.size() && stores[store.position] == id);
  DEBUG_ASSERT(is_valid(id));
  stores[store.position] = stores.back();
  pool_[stores[store.position]].position = store.position;
  stores.pop_back();
  store.buffer = nullptr;
  const auto found = chains_.find(granule_of(store.address));
  std::erase(found->second, id);
  if (found->second.empty()) {
    chains_.erase(found);
  }
}

StoreId PendingStores::add(const PendingStore& store, StoreBuffer& buffer) {
  ASSERT(store.serial != 0 && store.bytes != 0 && store.bytes <= kGranuleBytes);
  ASSERT(store.address % store.bytes == 0 && store.mask == mask_of(store.address, store.bytes));
  if (free_.empty()) {
    free_.push_back(static_cast<StoreId>(pool_.size()));
    pool_.emplace_back();
  }
  const StoreId id = free_.back();
  free_.pop_back();
  pool_[id] = store;
  put(id, buffer);
  return id;
}

void PendingStores::move(StoreId id, StoreBuffer& buffer) {
  take(id);
  put(id, buffer);
}

void PendingStores::remove(StoreId id) {
  take(id);
  pool_[id] = {};
  free_.push_back(id);
}

const PendingStores::Chain* PendingStores::at(std::uint64_t granule) const {
  const auto found = chains_.find(granule);
  return found == chains_.end() ? nullptr : &found->second;
}

bool PendingStores::waits_in(const StoreBuffer& buffer, std::uint64_t granule,
                             std::uint16_t mask) const {
  const Chain* chain = at(granule);
  return chain != nullptr && std::ranges::any_of(*chain, [&](StoreId id) {
           return pool_[id].buffer == &buffer && (pool_[id].mask & mask) != 0;
         });
}

void PendingStores::collect(const StoreBuffer& buffer, const Chain& chain, std::size_t end,
                            std::uint16_t& mask, std::vector<StoreId>& found) const {
  const auto first = static_cast<std::ptrdiff_t>(found.size());
  for (std::size_t i = end; i-- > 0;) {
    const PendingStore& store = pool_[chain[i]];
    if (store.buffer == &buffer && (store.mask & mask) != 0) {
      mask |= store.mask;
      found.push_back(chain[i]);
    }
  }
  std::reverse(found.begin() + first, found.end());
}

void PendingStores::collect_overlapping(const StoreBuffer& buffer, std::uint64_t granule,
                                        std::uint16_t& mask, std::vector<StoreId>& found) const {
  if (const Chain* chain = at(granule); chain != nullptr) {
    collect(buffer, *chain, chain->size(), mask, found);
  }
}

void PendingStores::collect_before(StoreId id, std::uint16_t& mask,
                                   std::vector<StoreId>& found) const {
  const PendingStore& store = pool_[id];
  const Chain& chain = *at(granule_of(store.address));
  const auto place = std::ranges::find(chain, id);
  ASSERT(place != chain.end());
  mask |= store.mask;
  collect(*store.buffer, chain, static_cast<std::size_t>(place - chain.begin()) + 1, mask, found);
}

}  // namespace barracuda::emulator
