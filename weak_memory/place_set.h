// The places for fences as a programmer sees them: all PTX accesses of one source line with one
// chain of calls are one place, for the fence will be written there. Without line information it is
// a PTX statement.
#pragma once

#include <string>
#include <vector>

#include "weak_memory/experiment.h"

namespace barracuda::weak_memory {

// One place, and the accesses that are meant by it.
struct SourcePlace {
  std::vector<ptx::FencePlace> accesses;  // at least one

  [[nodiscard]] const ptx::FencePlace& first() const { return accesses.front(); }

  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

// "FILE:LINE", or "FUNCTION#STATEMENT" where no line is known.
std::string name_of(const ptx::FencePlace& place);

// Behind what accesses a bug in this memory and this kernel (mangled; empty: any) can need a fence,
// in the order of the text. An access of unknown space is one of both.
std::vector<SourcePlace> source_places(const std::vector<ptx::FencePlace>& all, bool global,
                                       bool shared, const std::string& kernel);

// One fence behind each access of each place.
std::vector<Fence> fences_at(const std::vector<SourcePlace>& places, const ptx::Fence& fence);

}  // namespace barracuda::weak_memory
