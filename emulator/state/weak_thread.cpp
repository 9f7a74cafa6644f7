#include "emulator/state/weak_thread.h"

#include <algorithm>

namespace barracuda::emulator {

namespace {

constexpr std::size_t kMostAccesses = 64;

}  // namespace

void WeakThread::reset_window(std::uint64_t moment) {
  window = moment;
  accesses.clear();
}

void WeakThread::note_access(std::uint64_t granule, std::uint64_t moment) {
  const auto found = std::ranges::find(accesses, granule, &Access::granule);
  if (found != accesses.end()) {
    found->moment = std::max(found->moment, moment);
  } else if (accesses.size() == kMostAccesses) {
    // A narrower window has room for everything.
    for (const Access& access : accesses) {
      window = std::max(window, access.moment);
    }
    window = std::max(window, moment);
    accesses.clear();
  } else {
    accesses.push_back({.granule = granule, .moment = moment});
  }
}

std::uint64_t WeakThread::last_access(std::uint64_t granule) const {
  const auto found = std::ranges::find(accesses, granule, &Access::granule);
  return found == accesses.end() ? 0 : found->moment;
}

}  // namespace barracuda::emulator
