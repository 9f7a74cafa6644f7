// A time of damaged input for one reader. Every file of the corpus is tried first, then damaged
// ones until the time is over (BARRACUDA_FUZZ_SECONDS, 5 unless set; BARRACUDA_FUZZ_SEED for other
// damage). An input that crashes, hangs or takes absurd memory is left in the build folder as
// fuzz-<corpus>.input: once it is understood, it belongs into the corpus.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace barracuda::fuzz {

struct Campaign {
  std::string corpus;                                     // folder in tests/fuzz/corpus
  std::vector<std::string> more;                          // beginnings that are made, not kept
  std::function<void(std::string& input)> repair;         // before it is tried, or none
  std::function<bool(const std::string& input)> accepts;  // what is tested
};

struct Tally {
  std::uint64_t accepted = 0, refused = 0;
};

Tally run(const Campaign& campaign);

}  // namespace barracuda::fuzz
