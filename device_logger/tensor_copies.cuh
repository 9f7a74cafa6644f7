// The records of copies of boxes of tensors.
#pragma once

#include <cstdint>

#include "device_logger/logger_address.cuh"
#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"
#include "device_logger/site_word.h"
#include "device_logger/write_record.h"

namespace barracuda::wire {

struct TensorOperands {
  std::uint64_t map;  // generic
  std::uint64_t shared, mbarrier;
  std::uint64_t words[3];  // coordinates 0 and 1, 2 and 3, 4 with the CTA mask above it
  std::uint32_t pixels;    // pixel_offsets
};

// The words of a map: parameters, constants and global memory have generic addresses.
__device__ __forceinline__ std::uint64_t number_of_map(std::uint64_t map) {
  return map_number([map](std::uint32_t i) {
    std::uint64_t word;
    asm volatile("ld.b64 %0, [%1];" : "=l"(word) : "l"(map + i * sizeof(word)) : "memory");
    return word;
  });
}

// The lanes of `together` that copy the same box from or to the same place.
__device__ __forceinline__ std::uint32_t lanes_with(const Lanes& together, std::uint64_t number,
                                                    const TensorOperands& operands) {
  std::uint32_t alike = Lanes::like(together.mask, number) &
                        Lanes::like(together.mask, operands.shared) &
                        Lanes::like(together.mask, operands.pixels);
  for (const std::uint64_t word : operands.words) {
    alike &= Lanes::like(together.mask, word);
  }
  return alike;
}

// Each lane has a record of its own, and they are written one after the other: mostly there is one.
// Lanes that do the same in bulk groups have one record: whole warps do so. An mbarrier counts the
// bytes of each lane.
__device__ __forceinline__ void log_tensor_copy(std::uint32_t site, TensorOperands operands) {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  if (descriptor == 0) {
    return;
  }
  if ((site & kGenericTarget) != 0) {
    operands.shared = tagged_generic(operands.shared);
  }
  if ((site & kGenericThird) != 0) {
    operands.mbarrier = tagged_generic(operands.mbarrier);
  }
  const std::uint64_t number = number_of_map(operands.map);
  const Queue queue(descriptor);
  const Lanes together = Lanes::at_site(site);
  const bool in_group = operands.mbarrier == kNoOperand;  // all or none
  const std::uint32_t own = std::uint32_t{1} << together.lane;
  const Lanes alike(in_group ? lanes_with(together, number, operands) : own);
  for (std::uint32_t rest = together.mask; rest != 0; rest &= rest - 1) {
    if (alike.leads() && (rest & (~rest + 1)) == own) {
      const std::uint64_t slot =
          queue.claim_and_acquire(record_slots(RecordKind::kTensorCopy, 1)) + 1;
      write_value(queue, slot, 0, operands.shared,
                  static_cast<std::uint32_t>(operands.words[2] >> 32),
                  static_cast<std::uint32_t>(operands.words[0]));
      write_value(queue, slot, 1, number, 0, static_cast<std::uint32_t>(operands.words[0] >> 32));
      write_value(queue, slot + 1, 0, operands.mbarrier, 0,
                  static_cast<std::uint32_t>(operands.words[1]));
      write_value(queue, slot + 1, 1,
                  operands.words[1] >> 32 | (operands.words[2] & 0xFFFFFFFF) << 32, 0,
                  operands.pixels);
      finish_entries(queue, alike, slot - 1, site, RecordKind::kTensorCopy);
    }
    together.converge();
  }
}

}  // namespace barracuda::wire
