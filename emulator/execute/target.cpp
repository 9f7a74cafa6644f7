#include "emulator/execute/form.h"

namespace barracuda::emulator {

namespace baseline {
const LaneHandlers& handlers();
}  // namespace baseline
#ifdef BARRACUDA_EXECUTE_AVX2
namespace avx2 {
const LaneHandlers& handlers();
}  // namespace avx2
#endif

const LaneHandlers& lane_handlers() {
#ifdef BARRACUDA_EXECUTE_AVX2
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
      __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("f16c") != 0;
  if (has_avx2) {
    return avx2::handlers();
  }
#endif
  return baseline::handlers();
}

}  // namespace barracuda::emulator
