#include "session/tensor_map_book.h"

#include <array>
#include <cstring>

#include "device_logger/record.h"

namespace barracuda::session {

std::uint64_t TensorMapBook::number_of(const void* bytes) {
  std::array<std::uint64_t, wire::kMapWords> words{};
  std::memcpy(words.data(), bytes, sizeof words);
  return wire::map_number([&](std::uint32_t i) { return words.at(i); });
}

bool TensorMapBook::add(std::uint64_t number, const TensorMap& map) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = maps_.try_emplace(number, map);
  if (!is_new && known->second == map) {
    return false;
  }
  known->second = map;
  return true;
}

std::optional<TensorMap> TensorMapBook::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto known = maps_.find(number);
  return known == maps_.end() ? std::nullopt : std::optional(known->second);
}

void TensorMapBook::made(const void* bytes, const TensorMap& map) {
  const std::uint64_t number = number_of(bytes);
  if (add(number, map)) {
    pipeline_.add_tensor_map(number, map);
  }
}

void TensorMapBook::moved(const void* bytes, std::uint64_t before, std::uint64_t address) {
  if (std::optional<TensorMap> map = find(before)) {
    map->address = address;
    made(bytes, *map);
  }
}

}  // namespace barracuda::session
