// mapa and getctarank.
#include "emulator/state/cluster.h"

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/control.h"
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator {

using baseline::fill;
using baseline::source;
using baseline::target;

namespace {

std::uint64_t window_of(const Context& c, const Instruction& in) {
  return static_cast<AddressWindow>(in.flags) == AddressWindow::kShared ? 0 : c.windows.shared();
}

}  // namespace

Step execute_map_address(Context& c, const Instruction& in, std::uint32_t mask) {
  const std::uint64_t base = window_of(c, in);
  const auto* addresses = source<std::uint64_t>(c, in.a);
  const auto* ranks = source<std::uint32_t>(c, in.b);
  fill(target<std::uint64_t>(c, in.d), mask, [&](int i) {
    const std::uint64_t offset = (addresses[i] - base) % kClusterShare;
    const std::uint32_t rank = ranks[i] % kMaximumClusterBlocks;
    // The CTA's own memory has one address, whichever way it is made.
    const std::uint64_t share = rank == c.cta->rank ? 0 : (rank + std::uint64_t{1}) * kClusterShare;
    return base + share + offset;
  });
  return Step::kNext;
}

Step execute_cta_rank(Context& c, const Instruction& in, std::uint32_t mask) {
  const std::uint64_t base = window_of(c, in);
  const auto* addresses = source<std::uint64_t>(c, in.a);
  const std::uint32_t own = c.cta->rank;
  fill(target<std::uint32_t>(c, in.d), mask, [&](int i) {
    const std::uint64_t share = (addresses[i] - base) / kClusterShare;
    return share == 0 ? own : static_cast<std::uint32_t>(share - 1);
  });
  return Step::kNext;
}

}  // namespace barracuda::emulator
