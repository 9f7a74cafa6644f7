// What lanes of a warp do together, as votes and shuffles, in an instrumented text.
#pragma once

#include <string_view>

namespace barracuda::session {

// Whether the program's own functions have any. Where a text is compiled fast (jit/compiler.h),
// NVIDIA's compiler (13.0) lets a collective overwrite a predicate that is needed after it, if
// lanes may be apart and all seven registers for predicates are in use; otherwise it notices, and
// refuses the text.
[[nodiscard]] bool has_warp_collectives(std::string_view instrumented);

}  // namespace barracuda::session
