#include "host_detector/sync/mbarrier.h"

#include <algorithm>
#include <utility>

namespace barracuda::detector {

void Mbarrier::init(std::uint32_t count) {
  is_valid_ = true;
  parity_ = false;
  expected_ = pending_ = count;
  bytes_ = 0;
  counts_bytes_ = true;
  is_owed_ = false;
  ++phase_;  // stamps of an earlier use stay in the past
  gathering_ = newest_ = before_ = Given{};
}

void Mbarrier::arrive(std::uint32_t count, bool drops) {
  pending_ -= count;
  expected_ -= drops ? count : 0;
  open_if_complete();
}

void Mbarrier::expect(std::int64_t bytes) {
  bytes_ += counts_bytes_ ? bytes : std::max<std::int64_t>(bytes, 0);
  open_if_complete();
}

void Mbarrier::forget_bytes() {
  counts_bytes_ = false;
  open_if_complete();
}

void Mbarrier::open_if_complete() {
  if (pending_ != 0 || !has_its_bytes()) {
    return;
  }
  before_ = newest_;
  newest_.near.join(gathering_.near);
  newest_.far.join(gathering_.far);
  newest_.unscoped.join(gathering_.unscoped);
  newest_.phase = phase_;
  gathering_ = Given{};
  pending_ = expected_;
  parity_ = !parity_;
  is_owed_ = std::exchange(bytes_, 0) > 0;
  ++phase_;
}

const Mbarrier::Given& Mbarrier::complete(std::uint32_t parity) const {
  const bool is_newest = parity == wire::kUnknownParity || (parity != 0) != parity_;
  return is_newest ? newest_ : before_;
}

Mbarrier* MbarrierTable::get(std::uint64_t offset) {
  const auto known = mbarriers_.find(offset);
  if (known != mbarriers_.end()) {
    return &known->second;
  }
  if (mbarriers_.size() >= kMaxMbarriers) {
    return nullptr;
  }
  const auto number = static_cast<std::uint32_t>(mbarriers_.size());
  return &mbarriers_.emplace(offset, Mbarrier(number)).first->second;
}

Mbarrier* MbarrierTable::find_valid(std::uint64_t offset) {
  const auto known = mbarriers_.find(offset);
  return known != mbarriers_.end() && known->second.is_valid() ? &known->second : nullptr;
}

}  // namespace barracuda::detector
