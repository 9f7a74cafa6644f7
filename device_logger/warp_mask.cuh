// Votes, matches and shuffles of lanes that a mask names, where lanes with other masks may run with
// them.
//
// The hardware may run lanes that called from different places through one hook as one: they join
// where they wait for each other inside it. Each group has a mask of its own then. But ptxas (13.0,
// sm_90) takes what activemask gave for one value of all lanes, also behind such a place: whether
// the lanes of a mask are there it asks by `R2UR UR4, R15; BRA.DIV UR4`, of one lane's mask. Where
// they are, lanes of another group vote as well, although one of theirs may be missing; it waits
// for them for ever when it comes (bench_dxtc did not end). Of masks that it has not seen to be
// activemask's it compares all, which takes longer (MATCH.ANY, REDUX.OR).
//
// So lanes ask with whoever is here, which is one mask for all of them, and each looks whether all
// of its own were among them. Where some were not, the groups ask again, one after the other.
#pragma once

#include <cstdint>

namespace barracuda::wire {

// What `ask` answers with all lanes of `mask`: it is given the mask for its one instruction. Lanes
// that are not of `mask` may have had a part in it.
template <class Ask>
__device__ __forceinline__ auto ask_lanes(std::uint32_t mask, const Ask& ask) {
  std::uint32_t here = __activemask();
  auto answer = ask(here);
  bool is_missing = (mask & ~here) != 0;
#pragma unroll 1
  while (is_missing) {
    here = __activemask();
    if (__shfl_sync(here, mask, __ffs(static_cast<int>(here)) - 1) == mask) {
      answer = ask(mask);  // waits for the others
      is_missing = false;
    }
  }
  return answer;
}

// What each of the lanes did before is before what any of them does behind it.
__device__ __forceinline__ void converge_lanes(std::uint32_t mask) {
  ask_lanes(mask, [](std::uint32_t here) {
    __syncwarp(here);
    return true;
  });
}

}  // namespace barracuda::wire
