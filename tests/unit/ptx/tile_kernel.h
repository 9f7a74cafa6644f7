// A kernel with a tile in shared memory, for the tests of what counts its barriers.
#pragma once

#include <string>
#include <string_view>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {

inline constexpr std::string_view kTileKernelHead =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".shared .align 4 .b8 tile[64];\n"
    ".func helper() { .reg .b32 %r<2>; ld.shared.u32 %r1, [tile]; ret; }\n"
    ".func harmless() { ret; }\n"
    ".global .align 4 .u32 table[2] = {1, 2};\n"
    ".func __internal_trig_reduction_slowpathd() { .reg .b32 %r<2>; ld.global.nc.u32 %r1, [table]; "
    "ret; }\n"
    ".func reads_table() { .reg .b32 %r<2>; ld.global.nc.u32 %r1, [table]; ret; }\n";

inline InstrumentedModule instrument_with(std::string_view body) {
  return instrument_text(std::string(kTileKernelHead) +
                         ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n"
                         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
                         std::string(body) + "ret;\n}\n");
}

inline constexpr const char* kTileStore = "st.shared.u32 [tile], %r1;\n";
inline constexpr const char* kTileLoad = "ld.shared.u32 %r2, [tile];\n";
inline constexpr const char* kTileBarrier = "bar.sync 0;\n";
inline constexpr const char* kTileRound =
    "st.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile];\n";

}  // namespace barracuda::ptx
