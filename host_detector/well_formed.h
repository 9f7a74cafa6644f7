// Whether a record of one kind can be of a site. Both engines refuse what cannot.
#pragma once

#include "device_logger/record.h"

namespace barracuda::detector {

constexpr bool is_access(wire::Operation operation) {
  return operation <= wire::Operation::kReduction;
}

constexpr bool has_operands(wire::Operation operation) {
  return operation >= wire::Operation::kMbarrierInit && operation <= wire::Operation::kCopy &&
         operation != wire::Operation::kAsyncCommit && operation != wire::Operation::kAsyncWait;
}

constexpr bool is_well_formed(const wire::SiteInfo& site, wire::RecordKind kind) {
  using wire::RecordKind;
  if (is_access(site.operation)) {
    const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
    const bool is_plain = kind == RecordKind::kAffine || kind == RecordKind::kScattered;
    const bool is_copy = site.asynchrony == wire::Asynchrony::kThreadGroup && is_plain &&
                         site.operation <= wire::Operation::kWrite;
    return kind < RecordKind::kEvent && width > 0 && width <= 64 &&
           (site.asynchrony == wire::Asynchrony::kNone || is_copy);
  }
  return kind == (has_operands(site.operation) ? RecordKind::kOperands : RecordKind::kEvent);
}

}  // namespace barracuda::detector
