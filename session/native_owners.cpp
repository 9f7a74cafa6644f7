#include "session/native_owners.h"

#include <atomic>

namespace barracuda::session {

// Device addresses of global memory are host addresses on the emulated device.
std::uint64_t& NativeOwners::state_of(std::uint64_t granule) const {
  return *reinterpret_cast<std::uint64_t*>(  // NOLINT(performance-no-int-to-ptr)
      descriptor_.owners + granule * wire::kOwnerBytes);
}

std::uint64_t& NativeOwners::word_of(std::uint64_t granule) const {
  return *reinterpret_cast<std::uint64_t*>(  // NOLINT(performance-no-int-to-ptr)
      descriptor_.owners - (granule + 1) * wire::kOwnerBytes);
}

bool NativeOwners::log_kept(wire::WordOwner state, std::uint64_t word, const LaneStep& lane,
                            bool has_same_value, const NativeQueue& queue) const {
  const auto log = [&](const wire::OwnedAccess& kept, const wire::UniformValue& value) {
    const std::uint32_t site = descriptor_.states.first_site + kept.site;
    if (queue.is_quiet(site)) {
      return true;
    }
    const bool has_left = lane.is_frozen && states_.has_left(kept.thread);
    const bool is_settled = wire::is_settled(kept, lane.access.by, lane.is_frozen, has_left);
    const std::uint32_t number = wire::number_of_kept(kept, lane.access.by, is_settled);
    return states_.tell_warp_barriers(queue, kept.thread / wire::kWarpLanes, number) &&
           wire::write_past(
               queue, {.kind = is_settled ? wire::RecordKind::kSettled : wire::RecordKind::kEarlier,
                       .site = site,
                       .interval = number,
                       .thread = kept.thread,
                       .address = lane.address >> kept.size_log2 << kept.size_log2,
                       .value = value,
                       .cta = queue.program_cta_of(kept.block)});
  };
  for (std::uint32_t which = 0; which < state.count(); ++which) {
    const bool has_value = which == 0 && has_same_value;
    if (!log(state.kept(which, word), {.value = has_value ? lane.value : 0, .known = has_value})) {
      return false;
    }
  }
  return true;
}

// What was kept is logged before the state changes: a queue that is full lets the hook begin again,
// which logs the same accesses a second time.
std::optional<bool> NativeOwners::take(std::uint64_t granule, const LaneStep& lane,
                                       const NativeQueue& queue) const {
  const std::atomic_ref state(state_of(granule));
  const std::atomic_ref word(word_of(granule));
  std::uint64_t bits = state;
  for (;;) {
    const wire::WordOwner owner(bits);
    const std::uint64_t beside = word;
    const auto load_word = [beside] { return beside; };
    const bool is_same = wire::has_same_value(owner, lane.access, load_word);
    const wire::OwnerStep step = wire::owner_step(owner, lane.access, load_word);
    if (step.logs && !log_kept(owner, beside, lane, is_same, queue)) {
      return std::nullopt;
    }
    if (step.next.bits() == bits || state.compare_exchange_strong(bits, step.next.bits())) {
      if (step.sets_word) {
        word = step.word;
      }
      return step.logs;
    }
  }
}

std::optional<std::uint32_t> NativeOwners::follow(const NativeLanes& lanes, std::uint32_t site,
                                                  const LaneWords& addresses,
                                                  const LaneWords& offsets,
                                                  const LaneWords& intervals,
                                                  const wire::StoredValues<NativeLanes>& values,
                                                  const NativeQueue& queue) const {
  const std::uint32_t granule_log2 = descriptor_.states.owner_granule_log2;
  const bool are_alike = values.are_known && lanes.all_store_alike(values);
  std::uint32_t logged = 0;
  bool has_room = true;
  lanes.for_each([&](std::uint32_t lane, std::uint32_t) {
    const auto interval = static_cast<std::uint32_t>(intervals[lane]);
    LaneStep step{.access = wire::owner_access(
                      site, descriptor_.states.first_site, call_.warp * wire::kWarpLanes + lane,
                      static_cast<std::uint32_t>(call_.cta), interval, addresses[lane]),
                  .is_frozen = (interval & wire::kFrozen) != 0};
    if (step.access.use == wire::StateUse::kWrite) {
      // Two lanes of one instruction in one word: their record says what is to be said of them.
      if (!lanes.is_alone(addresses, lane)) {
        step.access.use = wire::StateUse::kLogged;
      }
      step.value = wire::stored_value(values.low[lane], values.high[lane]);
      step.access.value_mark = are_alike ? wire::value_mark(step.value) : 0;
    }
    const std::uint64_t last = (offsets[lane] + wire::bytes_at(site) - 1) >> granule_log2;
    for (std::uint64_t granule = offsets[lane] >> granule_log2; has_room && granule <= last;
         ++granule) {
      step.address = addresses[lane] - offsets[lane] + (granule << granule_log2);
      const std::optional<bool> taken = take(granule, step, queue);
      has_room = taken.has_value();
      logged |= taken.value_or(false) ? std::uint32_t{1} << lane : 0;
    }
  });
  return has_room ? std::optional(logged) : std::nullopt;
}

}  // namespace barracuda::session
