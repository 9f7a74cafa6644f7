// What the threads of one warp synchronised by lately, for reports: the sites of the last few
// fences, barriers, releases, acquires and waits, with the tick at which they were executed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "device_logger/site_info.h"
#include "host_detector/clock/cta_clock.h"

namespace barracuda::detector {

class SyncNotes {
 public:
  struct Answer {
    std::optional<wire::SiteId> site;  // nothing: it did not synchronise at all
    Tick tick = 0;
  };

  void note(wire::SiteId site, std::uint32_t lanes, Tick tick) {
    notes_[count_++ % kKept] = {.site = site, .lanes = lanes, .tick = tick};
  }

  // Up to now.
  [[nodiscard]] std::optional<Answer> last(std::uint32_t lane) const {
    return find(lane, ~Tick{0});
  }

  // Before what the lane did at `tick`. Nothing if that cannot be told.
  [[nodiscard]] std::optional<Answer> before(std::uint32_t lane, Tick tick) const {
    return find(lane, tick);
  }

 private:
  struct Note {
    wire::SiteId site{};
    std::uint32_t lanes = 0;
    Tick tick = 0;
  };

  static constexpr std::size_t kKept = 4;

  [[nodiscard]] std::optional<Answer> find(std::uint32_t lane, Tick tick) const {
    const std::size_t known = std::min<std::size_t>(count_, kKept);
    for (std::size_t age = 1; age <= known; ++age) {
      const Note& note = notes_[(count_ - age) % kKept];
      if (((note.lanes >> lane) & 1) == 0 || note.tick > tick) {
        continue;
      }
      if (note.tick == tick) {
        return std::nullopt;  // one of the two came first
      }
      return Answer{.site = note.site, .tick = note.tick};
    }
    return known < count_ ? std::nullopt : std::optional(Answer{});
  }

  std::array<Note, kKept> notes_{};
  std::uint32_t count_ = 0;
};

}  // namespace barracuda::detector
