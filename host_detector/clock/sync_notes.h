// What the threads of one warp synchronised by lately, for reports: the sites of the last few
// fences, barriers, releases, acquires and waits, with the time at which they were executed. One
// thread adds; others may look meanwhile, by seen_from_outside().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_logger/site_info.h"
#include "host_detector/clock/cta_clock.h"
#include "host_detector/race_event.h"

namespace barracuda::detector {

class SyncNotes {
 public:
  struct Answer {
    std::optional<wire::SiteId> site;  // nothing: it did not synchronise at all
    Time time = 0;
    std::uint32_t members = 0, threads = 0;
  };

  // `ends_epoch`: what the lanes do after it has a later time. `members`: a warp barrier's mask, or
  // which barrier of the block; `threads`: for how many that is, 0 for all.
  struct When {
    Time time = 0;
    bool ends_epoch = false;
    std::uint32_t members = 0, threads = 0;
  };

  void note(wire::SiteId site, std::uint32_t lanes, const When& when) {
    Note& note = notes_[count_ % kKept];
    store(note.site, site);
    store(note.lanes, lanes);
    store(note.time, when.time);
    store(note.ends_epoch, when.ends_epoch);
    store(note.members, when.members);
    store(note.threads, when.threads);
    store(count_, count_ + 1);
  }

  // Up to now.
  [[nodiscard]] std::optional<Answer> last(std::uint32_t lane) const {
    return find(lane, ~Time{0});
  }

  // The last synchronisation before what the lane did at `time`; nothing if that is not known.
  [[nodiscard]] std::optional<Answer> before(std::uint32_t lane, Time time) const {
    return find(lane, time);
  }

  // All that is kept of the lane, oldest first, as seen from what it did at `time`.
  [[nodiscard]] std::vector<SyncStep> steps(std::uint32_t lane, Time time) const {
    std::vector<SyncStep> steps;
    for (std::uint32_t age = std::min(count_, kept_); age >= 1; --age) {
      if (const Note& note = noted(age); is_of(note, lane)) {
        steps.push_back({.site = note.site, .when = when(note, time)});
      }
    }
    return steps;
  }

  // No note was dropped.
  [[nodiscard]] bool has_all() const { return count_ <= kept_; }

  // A copy without those that may have been overwritten while it was made.
  [[nodiscard]] SyncNotes seen_from_outside() const {
    SyncNotes seen;
    seen.count_ = load(count_);
    for (std::size_t index = 0; index < kKept; ++index) {
      seen.notes_[index] = {.site = load(notes_[index].site),
                            .lanes = load(notes_[index].lanes),
                            .time = load(notes_[index].time),
                            .members = load(notes_[index].members),
                            .threads = load(notes_[index].threads),
                            .ends_epoch = load(notes_[index].ends_epoch)};
    }
    const std::uint32_t lost = load(count_) - seen.count_ + 1;  // one more may be on its way
    seen.kept_ = kKept - std::min(kKept, lost);
    return seen;
  }

 private:
  struct Note {
    wire::SiteId site{};
    std::uint32_t lanes = 0;
    Time time = 0;
    std::uint32_t members = 0, threads = 0;
    bool ends_epoch = false;
  };

  static constexpr std::uint32_t kKept = 4;
  static_assert((kKept & (kKept - 1)) == 0, "the count of notes may wrap");

  // A reader that loads a part of a note also sees at least the count that was stored before it.
  template <typename T>
  static void store(T& place, T value) {
    std::atomic_ref(place).store(value, std::memory_order_release);
  }

  template <typename T>
  static T load(const T& place) {
    return std::atomic_ref(const_cast<T&>(place)).load(std::memory_order_acquire);
  }

  // 1 is the newest.
  [[nodiscard]] const Note& noted(std::uint32_t age) const {
    return notes_[(count_ - age) % kKept];
  }

  static bool is_of(const Note& note, std::uint32_t lane) {
    return ((note.lanes >> lane) & 1) != 0;
  }

  static SyncWhen when(const Note& note, Time time) {
    return note.time < time                        ? SyncWhen::kBefore
           : note.time == time && !note.ends_epoch ? SyncWhen::kUnclear
                                                   : SyncWhen::kAfter;
  }

  [[nodiscard]] std::optional<Answer> find(std::uint32_t lane, Time time) const {
    for (std::uint32_t age = 1; age <= std::min(count_, kept_); ++age) {
      const Note& note = noted(age);
      if (!is_of(note, lane) || when(note, time) == SyncWhen::kAfter) {
        continue;
      }
      if (when(note, time) == SyncWhen::kUnclear) {
        return std::nullopt;
      }
      return Answer{
          .site = note.site, .time = note.time, .members = note.members, .threads = note.threads};
    }
    return has_all() ? std::optional(Answer{}) : std::nullopt;
  }

  std::array<Note, kKept> notes_{};
  std::uint32_t count_ = 0;
  std::uint32_t kept_ = kKept;  // of the newest
};

}  // namespace barracuda::detector
