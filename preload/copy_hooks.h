// The hooks of copies and memsets, which are made of the table in copies.def.
#pragma once

#include <array>
#include <cstddef>

#include "preload/hooks.h"

namespace barracuda::preload {

inline constexpr std::size_t kCopyHookCount = 0
#define COPY(name) +2  // NOLINT(bugprone-macro-parentheses): terms of a sum
#include "preload/copies.def"
#undef COPY
    ;

// Asked for before main(): needs no heap.
const std::array<Hook, kCopyHookCount>& copy_hooks();

}  // namespace barracuda::preload
