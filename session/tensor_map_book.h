// The tensor maps that the program has made, each once, by the number that the logger gives their
// bytes. Thread-safe. A map costs some 100 bytes for as long as the program runs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/tensor_map.h"

namespace barracuda::session {

class TensorMapBook {
 public:
  // Of the 128 bytes of a map.
  static std::uint64_t number_of(const void* bytes);

  // Whether that is news.
  bool add(std::uint64_t number, const TensorMap& map);
  [[nodiscard]] std::optional<TensorMap> find(std::uint64_t number) const;

 private:
  mutable std::mutex mutex_;
  boost::unordered_flat_map<std::uint64_t, TensorMap> maps_;
};

}  // namespace barracuda::session
