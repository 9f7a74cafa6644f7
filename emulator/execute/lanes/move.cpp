// mov and cvta within registers.
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

using enum ptx::ScalarType;

template <class L>
Step move(Context& c, const Instruction& in, u32 mask) {
  const L* a = source<L>(c, in.a);
  fill(target<L>(c, in.d), mask, [&](int i) { return a[i]; });
  return Step::kNext;
}

Step move_predicate(Context& c, const Instruction& in, u32 mask) {
  set_predicate(c, in.d, predicate(c, in.a), mask);
  return Step::kNext;
}

}  // namespace

Selection select_move(const Form& form) {
  const ptx::ScalarType type = form.type();
  if (type == kPred) {
    return unary(&move_predicate, kPred, kPred);
  }
  const std::uint32_t size = ptx::size_of(type);
  if (size > 8 || size == 0) {
    return {};
  }
  return unary(size == 8 ? &move<u64> : &move<u32>, type, type);
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
