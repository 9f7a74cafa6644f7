#include "emulator/decode/frame_layout.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/assert.h"

namespace barracuda::emulator {

namespace {

// The steps over which a place is taken.
class Occupation {
 public:
  explicit Occupation(std::uint32_t steps) : words_(steps / 64 + 1, 0) {}

  [[nodiscard]] bool is_free(std::span<const Stretch> stretches) const {
    return std::ranges::all_of(stretches, [this](const Stretch& stretch) {
      for (std::uint32_t word = stretch.first / 64; word <= stretch.last / 64; ++word) {
        if ((words_[word] & mask(stretch, word)) != 0) {
          return false;
        }
      }
      return true;
    });
  }

  void take(std::span<const Stretch> stretches) {
    DEBUG_ASSERT(is_free(stretches));
    for (const Stretch& stretch : stretches) {
      for (std::uint32_t word = stretch.first / 64; word <= stretch.last / 64; ++word) {
        words_[word] |= mask(stretch, word);
      }
    }
  }

 private:
  static std::uint64_t mask(const Stretch& stretch, std::uint32_t word) {
    const std::uint64_t from = word == stretch.first / 64 ? stretch.first % 64 : 0;
    const std::uint64_t to = word == stretch.last / 64 ? stretch.last % 64 : 63;
    return (~std::uint64_t{0} << from) & (~std::uint64_t{0} >> (63 - to));
  }

  std::vector<std::uint64_t> words_;
};

// The places of one width.
class Places {
 public:
  explicit Places(std::uint32_t steps) : steps_(steps) {}

  // The first of `count` neighbours that are free.
  std::uint32_t take(std::span<const Stretch> stretches, std::uint32_t count) {
    std::uint32_t place = 0, free = 0;
    for (; free < count; ++place) {
      if (place == places_.size()) {
        places_.emplace_back(steps_);
      }
      free = places_[place].is_free(stretches) ? free + 1 : 0;
    }
    for (std::uint32_t i = place - count; i < place; ++i) {
      places_[i].take(stretches);
    }
    return place - count;
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }

 private:
  std::uint32_t steps_;
  std::vector<Occupation> places_;
};

}  // namespace

FrameLayout lay_out_frame(const std::vector<RegisterClass>& classes,
                          const std::vector<std::vector<Stretch>>& stretches, std::uint32_t steps) {
  ASSERT(classes.size() == stretches.size() && steps != 0);
  // By where they begin to hold a value: then a greedy choice of places is close to the best.
  std::vector<std::uint32_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t number) {
    return stretches[number].empty() ? 0 : stretches[number].front().first;
  });
  Places words(steps), double_words(steps), predicates(steps);
  const auto places_of = [&](RegisterClass register_class) -> Places& {
    return register_class == RegisterClass::kPredicate ? predicates
           : register_class == RegisterClass::kWord    ? words
                                                       : double_words;
  };
  FrameLayout layout{.slots = std::vector<Slot>(classes.size())};
  for (const std::uint32_t number : order) {
    const bool quad = classes[number] == RegisterClass::kQuadWord;
    layout.slots[number] = places_of(classes[number]).take(stretches[number], quad ? 2 : 1);
  }
  const std::uint32_t wide = register_bytes(RegisterClass::kDoubleWord);
  const std::uint32_t narrow = register_bytes(RegisterClass::kWord);
  const std::uint32_t mask = register_bytes(RegisterClass::kPredicate);
  const std::uint32_t words_at = double_words.count() * wide;
  const std::uint32_t predicates_at = words_at + words.count() * narrow;
  layout.bytes = predicates_at + predicates.count() * mask;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Slot& slot = layout.slots[i];
    slot = classes[i] == RegisterClass::kPredicate ? predicates_at + slot * mask
           : classes[i] == RegisterClass::kWord    ? words_at + slot * narrow
                                                   : slot * wide;
  }
  return layout;
}

}  // namespace barracuda::emulator
