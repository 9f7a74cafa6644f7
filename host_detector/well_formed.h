// Whether a site can have made a record of some kind. Both engines refuse one that it cannot have
// made.
#pragma once

#include "device_logger/record.h"
#include "host_detector/operation_traits.h"

namespace barracuda::detector {

constexpr bool is_of_accesses(wire::RecordKind kind) {
  switch (kind) {
    case wire::RecordKind::kVoid:
    case wire::RecordKind::kAffine:
    case wire::RecordKind::kAffineValue:
    case wire::RecordKind::kScattered:
    case wire::RecordKind::kRelease:
    case wire::RecordKind::kAcquire:
    case wire::RecordKind::kEarlier:
    case wire::RecordKind::kSettled:
      return true;
    case wire::RecordKind::kEvent:
    case wire::RecordKind::kBlockEvent:
    case wire::RecordKind::kOperands:
    case wire::RecordKind::kTensorCopy:
    case wire::RecordKind::kWarpBarriers:
      return false;
  }
  return false;
}

constexpr bool is_well_formed(const wire::SiteInfo& site, wire::RecordKind kind) {
  using wire::Operation;
  using wire::RecordKind;
  const OperationTraits& operation = traits_of(site.operation);
  if (operation.accesses) {
    const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
    const bool is_plain = kind == RecordKind::kAffine || kind == RecordKind::kScattered;
    const bool is_copy =
        site.asynchrony == wire::Asynchrony::kThreadGroup && is_plain && operation.is_plain;
    const bool is_unwaited = site.asynchrony == wire::Asynchrony::kUnwaited &&
                             kind == RecordKind::kRelease && site.operation != Operation::kAtomic;
    if (site.proxy == wire::Proxy::kTensorMap) {
      return is_plain && site.operation == Operation::kRead;
    }
    return is_of_accesses(kind) && width > 0 && width <= 64 &&
           (site.asynchrony == wire::Asynchrony::kNone || is_copy || is_unwaited);
  }
  if (operation.has_order) {
    return kind == RecordKind::kRelease || kind == RecordKind::kAcquire;
  }
  return kind == (operation.has_operands ? RecordKind::kOperands
                  : operation.has_box    ? RecordKind::kTensorCopy
                                         : RecordKind::kEvent);
}

}  // namespace barracuda::detector
