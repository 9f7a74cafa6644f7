// Two accesses and what lies between them as a litmus test, and what the PTX model says of it: may
// they race? A value that a thread read on the way is assumed: where it reads another, it does
// nothing more, for another execution of the program would go on otherwise.
#pragma once

#include <string>

#include "base/expected.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/slice/handover.h"

namespace barracuda::weak_memory {

// "app.cu:12": the innermost line of the user's own; FUNCTION#ORDINAL where no line is known.
std::string source_line(const ptx::Site& site);

// Why the models do not have an access of this kind, a clause; empty: they do.
std::string why_not_in_models(const wire::SiteInfo& access);

struct LitmusSlice {
  static constexpr std::size_t kMostAccesses = 12, kMostLocations = 6;

  memory_model::LitmusTest test;
  memory_model::Condition assumed;  // all reads on the way are what they were
  std::string comment;              // which lines it is of

  // The file.
  [[nodiscard]] std::string text() const;
};

// Errors: why there is none, a clause.
Expected<LitmusSlice> slice_of(const History& history, const AccessPair& pair,
                               const Handover& handover);

struct SliceVerdict {
  bool is_racy = false;
  bool is_reached = false;  // some execution goes all the way to the second access
  std::string bound;        // that ended the search; empty: each execution was looked at
};

SliceVerdict verdict_of(const LitmusSlice& slice);

}  // namespace barracuda::weak_memory
