// The bytes of shared memory that one warp reads by a wgmma: of A its own rows, of B all; and those
// that a lane reads by an instruction of tcgen05.
#pragma once

#include "device_logger/matrix_descriptor.h"
#include "device_logger/tensor_reads.h"
#include "host_detector/lanes.h"
#include "host_detector/warp_operation.h"

namespace barracuda::detector {

// Calls visit(tagged address, bytes) for each stretch of them. False if the site's shape cannot be.
template <typename Visit>
bool for_each_matrix_read(const wire::SiteInfo& site, const WarpOperation& operation, Visit visit) {
  const auto shape = wire::ProductShape::of(site.constant);
  if (!shape.is_valid() || operation.mask == 0) {
    return false;
  }
  // Descriptors are the same in all lanes.
  const LaneAccess& access = operation.lanes[first_lane(operation.mask)];
  const auto read = [&](std::uint64_t descriptor, wire::MatrixMajor major,
                        const wire::MatrixRowRange& rows) {
    wire::for_each_stretch(wire::read_descriptor(descriptor), major, rows,
                           [&](std::uint32_t address, std::uint32_t bytes) {
                             visit(wire::tagged_address(wire::AddressSpace::kShared, address),
                                   bytes);
                           });
  };
  if (!shape.has_registers) {
    read(access.value_read, shape.a, wire::rows_of_warp(operation.warp));
  }
  read(access.value_written, shape.b, shape.rows_of_b());
  return true;
}

// The same of what a lane issues by tcgen05. False if it cannot be, or is not known.
template <typename Visit>
bool for_each_tensor_read(const wire::SiteInfo& site, const LaneAccess& access, Visit visit) {
  const auto reads = wire::TensorReads::of(site.constant);
  const auto matrices =
      reads ? wire::matrices_of(*reads, access.value_read, access.value_written, access.amount)
            : std::nullopt;
  if (!matrices) {
    return false;
  }
  for (const auto& each : {matrices->a, matrices->b}) {
    if (each) {
      wire::for_each_stretch(
          each->matrix, each->major, each->rows, [&](std::uint32_t address, std::uint32_t bytes) {
            visit(wire::tagged_address(wire::AddressSpace::kShared, address), bytes);
          });
    }
  }
  return true;
}

}  // namespace barracuda::detector
