// Where each launch stands in LaunchOrder, by number. A thousand launches that follow each other on
// one chain, as most do, take the room of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/strong_id.h"
#include "host_detector/launch.h"

namespace barracuda::detector {

struct LaunchPlace {
  std::uint32_t chain = 0;
  std::uint32_t position = 0;  // on its chain, from 1; those before it were over. 0: not known
  std::uint32_t past = 0;      // in LaunchOrder's pasts

  [[nodiscard]] bool is_known() const { return position != 0; }

  friend bool operator==(const LaunchPlace&, const LaunchPlace&) = default;
};

class LaunchPlaces {
 public:
  void set(WorkId launch, const LaunchPlace& place) {
    Chunk& chunk = chunks_[number_of(launch) / kLaunches];
    if (chunk.places == nullptr) {
      chunk.expand();
    }
    LaunchPlace& known = (*chunk.places)[number_of(launch) % kLaunches];
    chunk.known += known.is_known() ? 0 : 1;
    known = place;
    if (chunk.known == kLaunches) {
      chunk.fold();
    }
  }

  [[nodiscard]] LaunchPlace find(WorkId launch) const {
    const auto chunk = chunks_.find(number_of(launch) / kLaunches);
    return chunk == chunks_.end() ? LaunchPlace{} : chunk->second.at(number_of(launch) % kLaunches);
  }

 private:
  static constexpr std::size_t kLaunches = 1024;

  struct Chunk {
    std::unique_ptr<std::array<LaunchPlace, kLaunches>> places;  // null: as `first` and so on
    std::uint32_t known = 0;
    LaunchPlace first;
    std::uint32_t step = 0;  // from one position to the next: copies between them have theirs

    [[nodiscard]] LaunchPlace at(std::size_t index) const {
      return places == nullptr ? folded(index) : (*places)[index];
    }

    [[nodiscard]] LaunchPlace folded(std::size_t index) const {
      return {.chain = first.chain,
              .position = first.position + step * static_cast<std::uint32_t>(index),
              .past = first.past};
    }

    void expand() {
      places = std::make_unique<std::array<LaunchPlace, kLaunches>>();
      for (std::size_t index = 0; known != 0 && index < kLaunches; ++index) {
        (*places)[index] = folded(index);
      }
    }

    void fold() {
      first = places->front();
      step = (*places)[1].position - first.position;
      for (std::size_t index = 0; index < kLaunches; ++index) {
        if ((*places)[index] != folded(index)) {
          return;
        }
      }
      places.reset();
    }
  };

  static std::uint32_t number_of(WorkId work) { return index_of(work.packed()); }

  boost::unordered_flat_map<std::uint32_t, Chunk> chunks_;
};

}  // namespace barracuda::detector
