#include "emulator/state/mbarrier.h"

#include "base/assert.h"

namespace barracuda::emulator {

namespace {

// From the lowest bit: pending 20, expected 20, owed bytes 22 (two's complement), parity, valid.
constexpr unsigned kExpectedShift = 20, kOwedShift = 40, kParityShift = 62, kValidShift = 63;
constexpr std::uint64_t kCountMask = kMaximumMbarrierCount;
constexpr std::uint64_t kOwedMask = (std::uint64_t{1} << 22) - 1;
constexpr std::uint64_t kOwedSign = std::uint64_t{1} << 21;
static_assert(kCountMask + (kCountMask << kExpectedShift) + (kOwedMask << kOwedShift) +
                      (std::uint64_t{1} << kParityShift) + (std::uint64_t{1} << kValidShift) ==
                  ~std::uint64_t{0},
              "every bit of the word has one meaning");
static_assert(kOwedSign == (kOwedMask + 1) / 2);

bool apply(Mbarrier& barrier, const MbarrierChange& change) {
  barrier.owed_bytes += change.transaction_bytes;
  barrier.pending += change.added;
  if (change.arrivals > barrier.pending || change.dropped > barrier.expected) {
    return false;
  }
  barrier.pending -= change.arrivals;
  barrier.expected -= change.dropped;
  // Bytes that are expected end no phase.
  const bool may_end = change.arrivals != 0 || change.transaction_bytes < 0;
  if (may_end && barrier.pending == 0 && barrier.owed_bytes == 0) {
    barrier.parity = !barrier.parity;
    barrier.pending = barrier.expected;
  }
  return true;
}

}  // namespace

Mbarrier Mbarrier::unpack(std::uint64_t word) {
  const std::uint64_t owed = (word >> kOwedShift) & kOwedMask;
  const std::uint64_t extended = (owed & kOwedSign) != 0 ? owed | ~kOwedMask : owed;
  return {.pending = static_cast<std::uint32_t>(word & kCountMask),
          .expected = static_cast<std::uint32_t>((word >> kExpectedShift) & kCountMask),
          .owed_bytes = static_cast<std::int64_t>(extended),
          .parity = ((word >> kParityShift) & 1) != 0,
          .is_valid = (word >> kValidShift) != 0};
}

std::uint64_t Mbarrier::pack() const {
  return (pending & kCountMask) | (expected & kCountMask) << kExpectedShift |
         (static_cast<std::uint64_t>(owed_bytes) & kOwedMask) << kOwedShift |
         std::uint64_t{parity} << kParityShift | std::uint64_t{is_valid} << kValidShift;
}

void initialise_mbarrier(std::uint64_t* word, std::uint32_t count) {
  ASSERT(count != 0 && count <= kMaximumMbarrierCount);
  const Mbarrier barrier{.pending = count, .expected = count, .is_valid = true};
  __atomic_store_n(word, barrier.pack(), __ATOMIC_SEQ_CST);
}

MbarrierResult change_mbarrier(std::uint64_t* word, const MbarrierChange& change,
                               std::uint64_t* before) {
  std::uint64_t seen = read_mbarrier(word);
  for (;;) {
    Mbarrier barrier = Mbarrier::unpack(seen);
    if (!barrier.is_valid) {
      return MbarrierResult::kInvalid;
    }
    if (!apply(barrier, change)) {
      return MbarrierResult::kTooManyArrivals;
    }
    if (__atomic_compare_exchange_n(word, &seen, barrier.pack(), false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      break;
    }
  }
  if (before != nullptr) {
    *before = seen;
  }
  return MbarrierResult::kDone;
}

std::uint64_t read_mbarrier(const std::uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

}  // namespace barracuda::emulator
