// The tensor maps that the program has made, each once, by the number that the logger gives their
// bytes. Thread-safe. A map costs some 100 bytes for as long as the program runs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/tensor_map.h"
#include "host_detector/pipeline.h"

namespace barracuda::session {

class TensorMapBook {
 public:
  explicit TensorMapBook(detector::Pipeline& pipeline) : pipeline_(pipeline) {}

  // Of the 128 bytes of a map.
  static std::uint64_t number_of(const void* bytes);

  // The program has had a map written: its 128 bytes and what they mean.
  void made(const void* bytes, const TensorMap& map);
  // The same map for another address. `before`: its number as it was.
  void moved(const void* bytes, std::uint64_t before, std::uint64_t address);

 private:
  // Whether that is news.
  bool add(std::uint64_t number, const TensorMap& map);
  [[nodiscard]] std::optional<TensorMap> find(std::uint64_t number) const;

  detector::Pipeline& pipeline_;
  mutable std::mutex mutex_;
  boost::unordered_flat_map<std::uint64_t, TensorMap> maps_;
};

}  // namespace barracuda::session
