// How an instrumented text, or a form of a kernel, may be compiled.
#pragma once

#include <string_view>

namespace barracuda::session {

// Whether the program's own functions do something that lanes of a warp do together with a
// predicate, as votes and shuffles. Where a text is compiled fast (jit/compiler.h), NVIDIA's
// compiler (13.0) lets such a collective overwrite a predicate that is needed after it, if lanes
// may be apart and all seven registers for predicates are in use; otherwise it notices, and refuses
// the text. In an instrumented text they are in functions of their own, which have no other
// predicates (ptx/passes/warp_collectives.cpp), but for those that this pass does not know.
[[nodiscard]] bool has_warp_collectives(std::string_view instrumented);

// Whether it is to be compiled fast: not with those, and not without hooks, for that is the
// program's code, which is to be as fast as it was.
[[nodiscard]] bool may_compile_fast(std::string_view text);

}  // namespace barracuda::session
