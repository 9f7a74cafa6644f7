#include "session/native_states.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "device_logger/site_word.h"
#include "device_logger/unwritten_memory.h"
#include "device_logger/write_record.h"

namespace barracuda::session {

using wire::AddressSpace;

NativeStates::NativeStates(const wire::LaunchDescriptor& descriptor,
                           const emulator::NativeCall& call)
    : states_(descriptor.states), warp_(call.warp) {
  if (states_.address != 0) {
    // Device addresses of global memory are host addresses on the emulated device.
    header_ = reinterpret_cast<std::byte*>(  // NOLINT(performance-no-int-to-ptr)
        states_.address + call.cta * wire::states_bytes(states_.window));
  }
}

std::uint64_t* NativeStates::state_at(std::uint64_t offset) const {
  DEBUG_ASSERT(offset % 4 == 0 && offset < states_.window);
  return reinterpret_cast<std::uint64_t*>(header_ + wire::kStatesHeader + offset * 2);
}

std::uint32_t* NativeStates::mask_of(std::uint32_t warp) const {
  return reinterpret_cast<std::uint32_t*>(header_ + wire::kLeftMasks) + warp;
}

std::uint32_t NativeStates::next(std::uint32_t epoch) const {
  return wire::next_epoch(epoch, *reinterpret_cast<const std::uint32_t*>(header_));
}

void NativeStates::leave(std::uint32_t lane, std::uint32_t epoch) const {
  if ((epoch & wire::kFrozen) != 0) {
    return;
  }
  *mask_of(warp_) |= 1U << lane;
  std::uint32_t& left = *reinterpret_cast<std::uint32_t*>(header_);
  left = std::max(left, wire::kMostEpochs - epoch);
}

wire::StateStep NativeStates::step_of(wire::WordState state, const LaneStep& lane) const {
  if ((lane.epoch & wire::kFrozen) == 0) {
    return wire::step(state, lane.epoch, lane.access);
  }
  return wire::frozen_step(state, lane.epoch, lane.access, [&](std::uint32_t thread) {
    return (*mask_of(thread / wire::kWarpLanes) >> thread % wire::kWarpLanes & 1) != 0;
  });
}

bool NativeStates::log_kept(wire::WordState state, const wire::StateStep& step,
                            std::uint64_t offset, const LaneStep& lane,
                            const NativeQueue& queue) const {
  const auto log = [&](const wire::KeptAccess& kept, const wire::UniformValue& value) {
    const std::uint64_t begin = offset >> kept.size_log2 << kept.size_log2;
    return wire::write_earlier(queue, states_.first_site + kept.site, kept.thread,
                               wire::tagged_address(AddressSpace::kShared, begin), value);
  };
  const wire::UniformValue stored{step.has_same_value ? lane.value : 0, step.has_same_value};
  return ((step.kept & 1) == 0 || log(state.first(), stored)) &&
         ((step.kept & 2) == 0 || log(state.second(), {}));
}

NativeStates::Outcome NativeStates::take(std::uint64_t offset, const LaneStep& lane,
                                         const NativeQueue& queue) const {
  std::uint64_t& bits = *state_at(offset);
  const wire::WordState state(bits);
  const wire::StateStep step = step_of(state, lane);
  if (!log_kept(state, step, offset, lane, queue)) {
    return Outcome::kTryAgain;
  }
  bits = step.next.bits();
  return step.logs ? Outcome::kLogged : Outcome::kLeftOut;
}

NativeStates::Outcome NativeStates::follow(const NativeLanes& lanes, std::uint32_t site,
                                           const LaneWords& addresses, const LaneWords& epochs,
                                           const wire::StoredValues<NativeLanes>& values,
                                           const NativeQueue& queue) const {
  const std::uint32_t bytes = wire::bytes_at(site);
  const bool is_plain = bytes >= 4 && (site & wire::kAlwaysLogged) == 0;
  const bool are_alike = values.are_known && lanes.all_store_alike(values);
  Outcome outcome = Outcome::kLeftOut;
  lanes.for_each([&](std::uint32_t lane, std::uint32_t) {
    const std::uint64_t offset = wire::address_of(addresses[lane]);
    if (wire::space_of(addresses[lane]) != AddressSpace::kShared ||
        offset + bytes > states_.window) {
      outcome = outcome == Outcome::kTryAgain ? outcome : Outcome::kLogged;
      return;
    }
    LaneStep step{.offset = offset, .epoch = static_cast<std::uint32_t>(epochs[lane])};
    step.access.by = {.thread = warp_ * wire::kWarpLanes + lane,
                      .site = (site & (wire::kMaxSites - 1)) - states_.first_site,
                      .size_log2 = site >> wire::kSizeShift & ((1U << wire::kSizeBits) - 1)};
    step.access.is_read = is_plain && (site & wire::kPlainRead) != 0;
    if (is_plain && (site & wire::kPlainWrite) != 0) {
      // Two lanes of one instruction in one word: their record says what is to be said of them.
      step.access.is_write =
          std::has_single_bit(lanes.which(addresses, [&](std::uint32_t, std::uint64_t address) {
            return address == addresses[lane];
          }));
      step.value = wire::stored_value(values.low[lane], values.high[lane]);
      step.access.value_mark = are_alike ? wire::value_mark(step.value) : 0;
    }
    for (std::uint64_t at = offset & ~std::uint64_t{3};
         outcome != Outcome::kTryAgain && at < offset + bytes; at += 4) {
      const Outcome taken = take(at, step, queue);
      outcome = taken == Outcome::kLeftOut ? outcome : taken;
    }
  });
  return outcome;
}

}  // namespace barracuda::session
