// What a race lacks, in terms of the program's code, for the search for a repair
// (weak_memory/repair). The sentence for people is made of the same facts (missing_order.h).
#pragma once

#include <string>

#include "host_detector/race_event.h"

namespace barracuda::report {

// Instructions are FUNCTION#ORDINAL (ptx/statement_name.h); empty: there is none, or it is not
// known.
struct Lack {
  detector::MissingOrder missing = detector::MissingOrder::kNoSynchronisation;
  detector::RaceKind kind = detector::RaceKind::kInterBlock;
  wire::Scope scope = wire::Scope::kGpu;  // the narrowest that includes both threads
  std::string first, second;              // the accesses, in the order the detector saw them
  std::string about;                      // what is missing there: the flag's write, the fence …
  std::string first_sync, second_sync;    // what the two threads synchronised by last before them
  bool are_updates = false;               // both read and write back one place

  friend bool operator==(const Lack&, const Lack&) = default;
};

}  // namespace barracuda::report
