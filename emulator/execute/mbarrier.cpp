// mbarrier: arrivals never wait; a wait that finds its phase not ended first lets the copies arrive
// that the phase waits for.
#include "emulator/state/mbarrier.h"

#include <bit>

#include <fmt/format.h>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/addresses.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator {

using baseline::Addresses;
using baseline::source;
using baseline::target;

namespace {

std::uint64_t* word_at(const Addresses& where, int lane) {
  return host_address<std::uint64_t>(where.at[lane]);
}

Step fail_at(Context& c, const Instruction& in, int lane, std::uint64_t address,
             std::string_view what) {
  return fail(c, in,
              Fault{.code = DeviceErrorCode::kTrap,
                    .lane = lane,
                    .address = address,
                    .bytes = 8,
                    .is_write = true,
                    .what = std::string(what)});
}

Step report(Context& c, const Instruction& in, int lane, MbarrierResult result) {
  const std::uint64_t address =
      source<std::uint64_t>(c, in.a)[lane] + static_cast<std::uint64_t>(in.immediate);
  return fail_at(
      c, in, lane, address,
      result == MbarrierResult::kInvalid
          ? fmt::format("an mbarrier at {:#x}, where none was initialised, was used", address)
          : fmt::format("an arrival that the phase of the mbarrier at {:#x} does not "
                        "expect was made",
                        address));
}

bool resolve_words(Context& c, const Instruction& in, std::uint32_t mask, Addresses& where) {
  if (static_cast<Place>(in.flags) == Place::kShared) {
    return baseline::resolve<Place::kShared>(c, in, mask, {.bytes = 8, .is_write = true}, where);
  }
  const auto* addresses = source<std::uint64_t>(c, in.a);
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t address = addresses[lane] + static_cast<std::uint64_t>(in.immediate);
    if (!c.windows.is_shared(address)) {
      fail(c, in,
           Fault{.code = DeviceErrorCode::kIllegalAddress,
                 .lane = lane,
                 .address = address,
                 .bytes = 8,
                 .is_write = true,
                 .what = fmt::format("an mbarrier outside shared memory, at {:#x}, was used",
                                     address)});
      return false;
    }
  }
  return baseline::resolve<Place::kGeneric>(c, in, mask, {.bytes = 8, .is_write = true}, where);
}

Step initialise(Context& c, const Instruction& in, std::uint32_t mask) {
  Addresses where;
  if (!resolve_words(c, in, mask, where)) {
    return Step::kSwitch;
  }
  const auto* counts = source<std::uint32_t>(c, in.b);
  for (const int lane : SetBits<int>(mask)) {
    if (counts[lane] == 0 || counts[lane] > kMaximumMbarrierCount) {
      return fail_at(c, in, lane, where.at[lane],
                     fmt::format("an mbarrier for {} arrivals was initialised", counts[lane]));
    }
    initialise_mbarrier(word_at(where, lane), counts[lane]);
  }
  return Step::kNext;
}

Step invalidate(Context& c, const Instruction& in, std::uint32_t mask) {
  Addresses where;
  if (!resolve_words(c, in, mask, where)) {
    return Step::kSwitch;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    __atomic_store_n(word_at(where, std::countr_zero(rest)), 0, __ATOMIC_SEQ_CST);
  }
  return Step::kNext;
}

enum class Operation : std::uint8_t { kArrive, kArriveDrop, kExpect, kComplete };

template <Operation Kind>
MbarrierChange change_of(std::uint32_t count, std::uint32_t bytes) {
  if constexpr (Kind == Operation::kComplete) {
    return {.transaction_bytes = -std::int64_t{bytes}};
  } else if constexpr (Kind == Operation::kExpect) {
    return {.transaction_bytes = bytes};
  } else {
    return {.transaction_bytes = bytes,
            .arrivals = count,
            .dropped = Kind == Operation::kArriveDrop ? count : 0};
  }
}

template <Operation Kind>
Step change(Context& c, const Instruction& in, std::uint32_t mask) {
  Addresses where;
  if (!resolve_words(c, in, mask, where)) {
    return Step::kSwitch;
  }
  const auto* counts = in.b == kNoSlot ? nullptr : source<std::uint32_t>(c, in.b);
  const auto* bytes = in.c == kNoSlot ? nullptr : source<std::uint32_t>(c, in.c);
  auto* tokens = in.d == kNoSlot ? nullptr : target<std::uint64_t>(c, in.d);
  for (const int lane : SetBits<int>(mask)) {
    const MbarrierChange wanted =
        change_of<Kind>(counts == nullptr ? 1 : counts[lane], bytes == nullptr ? 0 : bytes[lane]);
    std::uint64_t before = 0;
    const MbarrierResult result = change_mbarrier(word_at(where, lane), wanted, &before);
    if (result != MbarrierResult::kDone) {
      return report(c, in, lane, result);
    }
    if (tokens != nullptr) {
      tokens[lane] = before;
    }
  }
  return Step::kNext;
}

template <class Expected>
bool expected_parity(Expected value) {
  if constexpr (sizeof(Expected) == 8) {
    return Mbarrier::unpack(value).parity;
  } else {
    return (value & 1) != 0;
  }
}

// test_wait and try_wait: Expected is a token (64 bits) or a parity.
template <class Expected>
Step wait(Context& c, const Instruction& in, std::uint32_t mask) {
  Addresses where;
  if (!resolve_words(c, in, mask, where)) {
    return Step::kSwitch;
  }
  const auto* expected = source<Expected>(c, in.b);
  std::uint32_t ended = 0;
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t* word = word_at(where, lane);
    Mbarrier barrier = Mbarrier::unpack(read_mbarrier(word));
    if (!barrier.is_valid) {
      return report(c, in, lane, MbarrierResult::kInvalid);
    }
    const bool parity = expected_parity(expected[lane]);
    if (barrier.parity == parity) {
      complete_transfers(*c.cta->cluster, word);
      barrier = Mbarrier::unpack(read_mbarrier(word));
    }
    ended |= barrier.parity != parity ? std::uint32_t{1} << lane : 0U;
  }
  if (in.d != kNoSlot) {
    baseline::set_predicate(c, in.d, ended, mask);
  }
  if (ended != mask) {
    note_poll(c, in);
    charge_poll(c);
    c.yields = true;
    return Step::kSwitch;
  }
  c.warp->running().polls = 0;
  return Step::kNext;
}

}  // namespace

void note_poll(Context& c, const Instruction& in) {
  Fragment& fragment = c.warp->running();
  const bool again = fragment.polls_at == &in && c.turn_budget - c.budget <= kPollingLoop;
  fragment.polls = again ? fragment.polls + 1 : 0;
  fragment.sleeps_at = again ? fragment.sleeps_at : nullptr;
  fragment.polls_at = &in;
}

bool resolve_mbarriers(Context& c, const Instruction& in, std::uint32_t mask,
                       std::uint64_t* addresses) {
  Addresses where;
  if (!resolve_words(c, in, mask, where)) {
    return false;
  }
  for (const int lane : SetBits<int>(mask)) {
    if (!Mbarrier::unpack(read_mbarrier(word_at(where, lane))).is_valid) {
      report(c, in, lane, MbarrierResult::kInvalid);
      return false;
    }
    addresses[lane] = where.at[lane];
  }
  return true;
}

Handler select_mbarrier(const Form& form) {
  if (form.has(Modifier::kInit)) {
    return &initialise;
  }
  if (form.has(Modifier::kInval)) {
    return &invalidate;
  }
  if (form.has(Modifier::kArrive)) {
    return &change<Operation::kArrive>;
  }
  if (form.has(Modifier::kArriveDrop)) {
    return &change<Operation::kArriveDrop>;
  }
  if (form.has(Modifier::kTestWait) || form.has(Modifier::kTryWait)) {
    return form.has(Modifier::kParity) ? &wait<std::uint32_t> : &wait<std::uint64_t>;
  }
  return form.has(Modifier::kExpectTx)     ? &change<Operation::kExpect>
         : form.has(Modifier::kCompleteTx) ? &change<Operation::kComplete>
                                           : nullptr;
}

Step execute_pending_count(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto* tokens = source<std::uint64_t>(c, in.a);
  baseline::fill(target<std::uint32_t>(c, in.d), mask,
                 [tokens](int i) { return Mbarrier::unpack(tokens[i]).pending; });
  return Step::kNext;
}

}  // namespace barracuda::emulator
