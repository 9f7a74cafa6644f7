// Fences as text, one a line, for the options fences= and fence-places= and for plans:
//
//   +FUNCTION#STATEMENT sc gpu          a fence after that statement; acq_rel for sc, any scope
//   +FUNCTION#STATEMENT sc gpu before   before it
//   -FUNCTION#STATEMENT                 without the fence that the statement is
//   +FUNCTION#STATEMENT syncthreads     a barrier or wait after it: syncwarp, syncthreads,
//                                       cluster-sync, proxy-async, cp-async-wait, grid-wait;
//                                       `before` as above
//   =FUNCTION#STATEMENT release gpu     the access with that order and scope
//   =FUNCTION#STATEMENT scope gpu       the fence or access with that scope
//
// What stands behind a # that a blank comes before is a comment. In a list of places it says what
// is known of the access, and the order is that of the text of the program:
//
//   +f#14 sc gpu  # place=3 kernel=f,g space=global op=store at=dot.cu:31 inlined=dot.cu:9
//
// next=sc.gpu is the fence that the program has behind the access already.
// A fence that the program has stands in a comment: the line that would take it out.
//
//   # -f#15  # fence=sc.gpu kernel=f at=dot.cu:32
//
// kernel= is a list with commas, and so is inlined=, innermost first; without line information at=
// and inlined= are missing. In file names blanks, commas and percent signs are written as %20, %2C
// and %25.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/edit_order.h"
#include "ptx/fence_places.h"

namespace barracuda::ptx {

struct FenceLine {
  OrderEdit edit;  // no ReplaceFence
  // If the comment describes one.
  std::optional<FencePlace> place;
  std::uint32_t line = 0;  // of the file, from 1
};

// Errors, with the file as it is called here and the line: a line of another form.
Expected<std::vector<FenceLine>> parse_fences(std::string_view text, const std::string& file);

// One line, with its end, which parse_fences() understands. Not of a ReplaceFence.
std::string edit_line(const OrderEdit& edit);
// One line, with its end. A fence of that kind after the access of the place.
std::string fence_line(const FencePlace& place, const Fence& fence);
// One line, with its end, and all such lines of a text; others are passed over.
std::string own_fence_line(const OwnFence& own);
std::vector<OwnFence> parse_own_fences(std::string_view text);
// The fence that is tried at a place: sc, of scope gpu, and cta for shared memory.
Fence default_fence(const FencePlace& place);

// "sc", "acq_rel"; "cta", "cluster", "gpu", "sys". Nothing for other words.
std::optional<wire::MemoryOrder> fence_order(std::string_view word);
std::optional<wire::Scope> fence_scope(std::string_view word);

}  // namespace barracuda::ptx
