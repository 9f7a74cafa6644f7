#include "emulator/state/poll_watch.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "emulator/memory.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator {

namespace {

// A warp that reads more places than this works, and does not poll.
constexpr std::size_t kMostPlaces = 1024;
// Each place so often, and all of them so often: a loop over data is read again too, but not so
// often without a store.
constexpr std::uint64_t kRepeatsOfEach = 4;
constexpr std::uint64_t kRepeats = 16;

}  // namespace

void PollWatch::reset() {
  values_.clear();
  repeats_ = 0;
  lanes_ = 0;
}

void PollWatch::follow(std::uint64_t changes) {
  if (changes_ != changes) {
    changes_ = changes;
    repeats_ = 0;
    lanes_ = 0;
  }
}

bool PollWatch::note_access(const Seen& seen) {
  DEBUG_ASSERT(seen.bytes != 0 && seen.bytes <= kMostBytes);
  const auto [place, is_new] = values_.try_emplace(seen.address);
  Value& known = place->second;
  if (!is_new && known.bytes == seen.bytes &&
      std::memcmp(known.value.data(), seen.value.data(), seen.bytes) == 0) {
    ++repeats_;
    return true;
  }
  known = {.bytes = seen.bytes, .is_global = seen.is_global, .value = seen.value};
  if (values_.size() > kMostPlaces) {
    values_.clear();
  }
  return false;
}

bool PollWatch::is_polling(std::uint32_t lanes, std::uint64_t changes) const {
  return changes == changes_ && (lanes & ~lanes_) == 0 && repeats_ >= kRepeats &&
         repeats_ >= kRepeatsOfEach * values_.size();
}

bool PollWatch::is_outdated(const Memory& memory) const {
  return std::ranges::any_of(values_, [&](const auto& item) {
    const auto& [address, known] = item;
    // What is gone is found by the access itself.
    return (known.is_global && !memory.find(address)) ||
           std::memcmp(host_address<const void>(address), known.value.data(), known.bytes) != 0;
  });
}

}  // namespace barracuda::emulator
