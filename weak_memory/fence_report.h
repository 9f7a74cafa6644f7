// Fences as reports name them: by the line where they are or should be written.
#pragma once

#include <cstddef>
#include <string>

#include "ptx/fence_places.h"
#include "report/weak_finding.h"
#include "weak_memory/place_set.h"

namespace barracuda::weak_memory {

// A mangled kernel as people call it, without its types.
std::string kernel_name(const std::string& mangled);

// A fence behind each access of the place. `runs`: those that do not fail with it.
report::MissingFence reported_fence(const SourcePlace& place, const ptx::Fence& fence,
                                    std::size_t runs);
// One that the program has.
report::MissingFence reported_fence(const ptx::OwnFence& own, std::size_t runs);

}  // namespace barracuda::weak_memory
