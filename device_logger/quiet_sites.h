// Sites that are logged no more, because each is in a race that was seen often enough (option
// race-limit), or has told where shared variables lie: a bit for each of a session's first sites,
// in pinned host memory that all launches of a context look at before they log an access or a
// place. The host sets bits while kernels run. Other races of these sites may then be missed, and
// none is invented: synchronisation is left out only of loads and stores that order nobody behind a
// thread of another block, and of their kernel nothing is reported any more that they might have
// ordered (SiteInfo::narrow_kernel).
#pragma once

#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/record.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kQuietSites = 1U << 18;  // later ones are always logged
inline constexpr std::uint32_t kQuietWords = kQuietSites / 32;

// `word_at(i)` gives one of the words. Of a site, or the word of one (site_word.h).
template <class WordAt>
BARRACUDA_LOGGER bool has_quiet_bit(const WordAt& word_at, std::uint32_t site) {
  const std::uint32_t id = site & (kMaxSites - 1);
  return id < kQuietSites && (word_at(id / 32) >> id % 32 & 1) != 0;
}

}  // namespace barracuda::wire
