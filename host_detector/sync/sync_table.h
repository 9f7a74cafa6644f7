// The synchronising locations of one address space. Accesses of different sizes do not synchronise
// with each other (they are not morally strong), so a location is an address and a size.
#pragma once

#include <cstdint>
#include <memory>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/sync/location.h"

namespace barracuda::detector {

class SyncTable {
 public:
  [[nodiscard]] SyncLocation* find(std::uint64_t address, std::uint32_t size) const {
    const auto place = locations_.find(Key{.address = address, .size = size});
    return place == locations_.end() ? nullptr : place->second.get();
  }

  SyncLocation& get(std::uint64_t address, std::uint32_t size) {
    std::unique_ptr<SyncLocation>& place = locations_[Key{.address = address, .size = size}];
    if (place == nullptr) {
      place = std::make_unique<SyncLocation>();
    }
    return *place;
  }

  void forget(std::uint64_t address, std::uint64_t bytes) {
    erase_if(locations_, [&](const auto& each) {
      return each.first.address < address + bytes && address < each.first.address + each.first.size;
    });
  }

  void clear() { locations_.clear(); }

  [[nodiscard]] bool is_empty() const { return locations_.empty(); }

 private:
  struct Key {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    friend bool operator==(const Key&, const Key&) = default;

    friend std::size_t hash_value(const Key& key) {
      return static_cast<std::size_t>((key.address + key.size) * 0x9E3779B97F4A7C15ULL);
    }
  };

  boost::unordered_flat_map<Key, std::unique_ptr<SyncLocation>> locations_;
};

}  // namespace barracuda::detector
