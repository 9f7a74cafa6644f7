// A kernel to compile, and the compiler of this build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jit/compiler.h"

namespace barracuda::jit {

inline std::string_view example_text() {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry store_index(.param .u64 place)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
}

inline std::vector<std::string> example_flags() {
  return {"--gpu-name=sm_90"};
}

inline const Compiler& example_compiler() {
  static const Compiler compiler(BARRACUDA_COMPILER);
  return compiler;
}

}  // namespace barracuda::jit
