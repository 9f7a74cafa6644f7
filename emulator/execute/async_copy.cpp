// cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async: addresses are checked at
// once, bytes are moved later.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/range.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"
#include "emulator/state/mbarrier.h"

namespace barracuda::emulator {

using baseline::Addresses;
using baseline::source;

namespace {

const CopyOperands& operands_of(const Instruction& in) {
  return *static_cast<const CopyOperands*>(in.extra);
}

bool resolve_at(Context& c, const Instruction& place, std::uint32_t mask, const Access& access,
                Addresses& where) {
  return static_cast<Place>(place.flags) == Place::kShared
             ? baseline::resolve<Place::kShared>(c, place, mask, access, where)
             : baseline::resolve<Place::kGeneric>(c, place, mask, access, where);
}

// Both ends of one lane's bulk copy; false: the launch has failed.
bool bind_bulk(Context& c, const CopyOperands& operands, int lane, Movement& movement) {
  movement.bytes = source<std::uint32_t>(c, operands.bytes)[lane];
  movement.reduction = operands.reduction;
  movement.element_bytes = operands.element_bytes;
  if (movement.bytes % 16 != 0) {
    fail(c, operands.to,
         Fault{.code = DeviceErrorCode::kMisalignedAddress,
               .lane = lane,
               .bytes = movement.bytes,
               .is_write = true,
               .what = fmt::format("a bulk copy of {} bytes, which is no multiple of 16,",
                                   movement.bytes)});
    return false;
  }
  movement.from = resolve_range(c, operands.from, address_at(c, operands.from, lane),
                                {.bytes = movement.bytes}, lane);
  if (movement.from == nullptr) {
    return false;
  }
  movement.to = resolve_range(c, operands.to, address_at(c, operands.to, lane),
                              {.bytes = movement.bytes, .is_write = true}, lane);
  settle_for_copy(c, lane, movement.from, movement.bytes);
  settle_for_copy(c, lane, movement.to, movement.bytes);
  return movement.to != nullptr;
}

// What a lane does not read needs not be there: loops that copy ahead read nothing in their last
// rounds, from addresses behind the end.
bool resolve_sources(Context& c, const CopyOperands& operands, std::uint32_t mask,
                     Addresses& from) {
  if (operands.bytes == kNoSlot) {
    return resolve_at(c, operands.from, mask, {.bytes = operands.size}, from);
  }
  const auto* const read = source<std::uint32_t>(c, operands.bytes);
  for (const int lane : SetBits<int>(mask)) {
    const std::uint32_t bytes = std::min(read[lane], operands.size);
    const std::byte* host = nullptr;
    if (bytes != 0) {
      host = resolve_range(c, operands.from, address_at(c, operands.from, lane),
                           {.bytes = bytes, .alignment = operands.size}, lane);
      if (host == nullptr) {
        return false;
      }
    }
    from.at[lane] = reinterpret_cast<std::uint64_t>(host);
  }
  return true;
}

std::uint64_t* mbarrier_in_cta(const Context& c, std::uint64_t* mbarrier, const Cta& cta) {
  return reinterpret_cast<std::uint64_t*>(in_cta(c, reinterpret_cast<std::byte*>(mbarrier), cta));
}

// The bytes that the lane's mask names.
void add_masked(Context& c, const CopyOperands& operands, std::uint32_t lane,
                const Movement& whole) {
  constexpr std::uint32_t kChunk = 16;
  const std::uint32_t mask = source<std::uint32_t>(c, operands.byte_mask)[lane] & 0xFFFF;
  for (std::uint32_t byte = 0; byte < whole.bytes; ++byte) {
    if ((mask >> byte % kChunk & 1) != 0) {
      Movement movement = whole;
      movement.to += byte;
      movement.from += byte;
      movement.bytes = 1;
      c.warp->bulk_copies.add(lane, movement);
    }
  }
}

// What has been waited for is there: nothing older is read from now on.
void reset_after_copies(Context& c, std::uint32_t mask) {
  if (c.weak != nullptr) {
    reset_windows(c, mask);
  }
}

}  // namespace

std::uint64_t address_at(const Context& c, const Instruction& place, int lane) {
  return source<std::uint64_t>(c, place.a)[lane] + static_cast<std::uint64_t>(place.immediate);
}

std::byte* in_cta(const Context& c, std::byte* host, const Cta& cta) {
  return cta.shared.get() + (host - c.shared);
}

Step execute_copy(Context& c, const Instruction& in, std::uint32_t mask) {
  const CopyOperands& operands = operands_of(in);
  Addresses to, from;
  if (!resolve_sources(c, operands, mask, from) ||
      !resolve_at(c, operands.to, mask, {.bytes = operands.size, .is_write = true}, to)) {
    return Step::kSwitch;
  }
  const auto* read = operands.bytes == kNoSlot ? nullptr : source<std::uint32_t>(c, operands.bytes);
  for (const std::uint32_t lane : SetBits(mask)) {
    Movement movement;
    movement.bytes = read == nullptr ? operands.size : std::min(read[lane], operands.size);
    movement.zeros = operands.size - movement.bytes;
    movement.to = host_address<std::byte>(to.at[lane]);
    movement.from = host_address<const std::byte>(from.at[lane]);
    if (movement.bytes != 0) {
      settle_for_copy(c, static_cast<int>(lane), movement.from, movement.bytes);
    }
    settle_for_copy(c, static_cast<int>(lane), movement.to, operands.size);
    c.warp->copies.add(lane, movement);
  }
  return Step::kNext;
}

Step execute_copy_group_end(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  c.warp->copies.end_group(mask);
  return Step::kNext;
}

Step execute_copy_wait(Context& c, const Instruction& in, std::uint32_t mask) {
  c.warp->copies.complete_groups(mask, static_cast<std::uint32_t>(in.immediate));
  reset_after_copies(c, mask);
  return Step::kNext;
}

Step execute_copy_wait_all(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  c.warp->copies.complete_all(mask);
  reset_after_copies(c, mask);
  return Step::kNext;
}

Step execute_copy_arrival(Context& c, const Instruction& in, std::uint32_t mask) {
  std::uint64_t words[kLanes];
  if (!resolve_mbarriers(c, in, mask, words)) {
    return Step::kSwitch;
  }
  for (const std::uint32_t lane : SetBits(mask)) {
    auto* word = host_address<std::uint64_t>(words[lane]);
    if (in.count == 1) {
      change_mbarrier(word, {.added = 1});
    }
    c.warp->copies.add_arrival(lane, word);
  }
  return Step::kNext;
}

Step execute_bulk_group_end(Context& c, const Instruction& /*in*/, std::uint32_t mask) {
  c.warp->bulk_copies.end_group(mask);
  return Step::kNext;
}

Step execute_bulk_wait(Context& c, const Instruction& in, std::uint32_t mask) {
  c.warp->bulk_copies.complete_groups(mask, static_cast<std::uint32_t>(in.immediate));
  reset_after_copies(c, mask);
  return Step::kNext;
}

Step execute_bulk_grouped(Context& c, const Instruction& in, std::uint32_t mask) {
  const CopyOperands& operands = operands_of(in);
  for (const int lane : SetBits<int>(mask)) {
    Movement movement;
    if (!bind_bulk(c, operands, lane, movement)) {
      return Step::kSwitch;
    }
    if (operands.byte_mask != kNoSlot) {
      add_masked(c, operands, static_cast<std::uint32_t>(lane), movement);
    } else {
      c.warp->bulk_copies.add(static_cast<std::uint32_t>(lane), movement);
    }
  }
  return Step::kNext;
}

Step execute_bulk_zeros(Context& c, const Instruction& in, std::uint32_t mask) {
  const CopyOperands& operands = operands_of(in);
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t bytes = source<std::uint64_t>(c, operands.bytes)[lane];
    if (bytes % 8 != 0 || bytes > c.shared_bytes) {
      return fail(c, operands.to,
                  Fault{.code = DeviceErrorCode::kMisalignedAddress,
                        .lane = lane,
                        .is_write = true,
                        .what = fmt::format("a bulk store of {} bytes", bytes)});
    }
    const auto count = static_cast<std::uint32_t>(bytes);
    std::byte* const to = resolve_range(c, operands.to, address_at(c, operands.to, lane),
                                        {.bytes = count, .alignment = 8, .is_write = true}, lane);
    if (to == nullptr) {
      return Step::kSwitch;
    }
    settle_for_copy(c, lane, to, count);
    std::memset(to, 0, count);
  }
  return Step::kNext;
}

Step execute_bulk_signalled(Context& c, const Instruction& in, std::uint32_t mask) {
  const CopyOperands& operands = operands_of(in);
  std::uint64_t words[kLanes];
  if (!resolve_mbarriers(c, operands.mbarrier, mask, words)) {
    return Step::kSwitch;
  }
  Cluster& cluster = *c.cta->cluster;
  for (const int lane : SetBits<int>(mask)) {
    Transfer transfer;
    if (!bind_bulk(c, operands, lane, transfer.movement)) {
      return Step::kSwitch;
    }
    transfer.mbarrier = host_address<std::uint64_t>(words[lane]);
    transfer.signalled = transfer.movement.bytes;
    if (operands.ctas == kNoSlot) {
      cluster.transfers.push_back(transfer);
      continue;
    }
    const std::uint32_t ranks = source<std::uint32_t>(c, operands.ctas)[lane];
    for (const auto& cta : cluster.ctas) {
      if (((ranks >> cta->rank) & 1) != 0) {
        Transfer copy = transfer;
        copy.movement.to = in_cta(c, transfer.movement.to, *cta);
        copy.mbarrier = mbarrier_in_cta(c, transfer.mbarrier, *cta);
        settle_for_copy(c, lane, copy.movement.to, copy.movement.bytes);
        cluster.transfers.push_back(copy);
      }
    }
  }
  return Step::kNext;
}

Step execute_remote_store(Context& c, const Instruction& in, std::uint32_t mask) {
  const CopyOperands& operands = operands_of(in);
  std::uint64_t words[kLanes];
  Addresses to;
  const std::uint32_t bytes = operands.element_bytes * operands.count;
  if (!resolve_mbarriers(c, operands.mbarrier, mask, words) ||
      !resolve_at(c, operands.to, mask, {.bytes = bytes, .is_write = true}, to)) {
    return Step::kSwitch;
  }
  for (const int lane : SetBits<int>(mask)) {
    Transfer transfer;
    transfer.movement.to = host_address<std::byte>(to.at[lane]);
    transfer.movement.bytes = bytes;
    transfer.movement.reduction = operands.reduction;
    transfer.movement.element_bytes = operands.element_bytes;
    for (std::uint32_t k = 0; k < operands.count; ++k) {
      std::byte* place = transfer.movement.value.data() + std::size_t{k} * operands.element_bytes;
      const auto* lanes = source<std::byte>(c, operands.values[k]);
      std::memcpy(place, lanes + static_cast<std::size_t>(lane) * operands.element_bytes,
                  operands.element_bytes);
    }
    settle_for_copy(c, lane, transfer.movement.to, bytes);
    transfer.mbarrier = host_address<std::uint64_t>(words[lane]);
    transfer.signalled = bytes;
    c.cta->cluster->transfers.push_back(transfer);
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator
