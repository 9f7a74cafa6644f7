// Copies of boxes of tensors: addresses are checked at once, bytes are moved later, as with other
// bulk copies. A box is moved in pieces that lie together in both memories.
#include "emulator/execute/tensor_copy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/range.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"
#include "emulator/tensor_map_image.h"

namespace barracuda::emulator {

using baseline::source;

namespace {

constexpr std::uint32_t kChunk = 16;              // what a swizzle leaves together
constexpr std::uint64_t kMaxBoxBytes = 1U << 18;  // more than a block has of shared memory

const TensorOperands& operands_of(const Instruction& in) {
  return *static_cast<const TensorOperands*>(in.extra);
}

// A box that one lane copies, with its addresses checked.
struct Box {
  TensorMap map;
  TensorCoordinates at{};
  PixelOffsets offsets{};
  std::uint64_t address = 0;  // in shared memory, for the swizzle
  std::byte* shared = nullptr;
  std::uint32_t bytes = 0;

  // Where a byte of the box is.
  [[nodiscard]] std::byte* place(std::uint32_t offset) const {
    return shared + (swizzled(map.swizzle, address + offset) - address);
  }
};

void refuse(Context& c, const Instruction& place, int lane, std::string why) {
  fail(c, place,
       Fault{.code = DeviceErrorCode::kIllegalInstruction, .lane = lane, .what = std::move(why)});
}

// Nothing where the launch has failed.
std::optional<Box> bind_box(Context& c, const TensorOperands& operands, int lane, bool is_load) {
  const std::byte* image =
      resolve_range(c, operands.map, address_at(c, operands.map, lane),
                    {.bytes = kTensorMapBytes, .alignment = kTensorMapAlignment}, lane);
  if (image == nullptr) {
    return std::nullopt;
  }
  const TensorMapImage read = read_tensor_map(image);
  if (!read.is_valid() || read.map.rank != operands.rank || read.map.reach() > kMaxBoxBytes ||
      read.map.is_im2col() != operands.is_im2col) {
    refuse(c, operands.map, lane,
           fmt::format("a copy of a box of {} dimensions by {}", operands.rank,
                       read.is_valid() ? "a tensor map of another box" : "what is no tensor map"));
    return std::nullopt;
  }
  Box box{.map = read.map, .address = address_at(c, operands.shared, lane)};
  box.bytes = static_cast<std::uint32_t>(read.map.box_bytes());
  for (std::uint32_t i = 0; i < operands.rank; ++i) {
    box.at[i] = source<std::int32_t>(c, operands.coordinates[i])[lane];
  }
  if (operands.is_im2col && box.at[0] * std::int64_t{bytes_of(box.map.element)} % kChunk != 0) {
    refuse(c, operands.map, lane, "a copy of pixels from a channel that begins no 16 bytes");
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < operands.offset_count; ++i) {
    box.offsets[i] =
        static_cast<std::uint16_t>(source<std::uint32_t>(c, operands.offsets[i])[lane]);
  }
  const auto reached = static_cast<std::uint32_t>(box.map.reach());
  box.shared = resolve_range(
      c, operands.shared, box.address,
      {.bytes = reached, .alignment = kTensorBoxAlignment, .is_write = is_load}, lane);
  if (box.shared == nullptr) {
    return std::nullopt;
  }
  settle_for_copy(c, lane, box.shared, reached);
  return box;
}

// Of elements outside the tensor: zeros, or 0x7FF7 in every 16 bits (an H200's NaN, of all types).
void fill(const Box& box, std::uint32_t begin, std::uint32_t end, std::vector<Movement>& to) {
  for (std::uint32_t done = begin; done < end;) {
    Movement movement;
    movement.to = box.place(done);
    const std::uint32_t bytes = std::min(end, (done / kChunk + 1) * kChunk) - done;
    if (box.map.fills_with_nan) {
      for (std::uint32_t i = 0; i < bytes; ++i) {
        movement.value.at(i) = i % 2 == 0 ? std::byte{0xF7} : std::byte{0x7F};
      }
      movement.bytes = bytes;
    } else {
      movement.zeros = bytes;
    }
    to.push_back(movement);
    done += bytes;
  }
}

// The bytes of one row that lie in the tensor. False: the launch has failed.
bool move_row(Context& c, const TensorOperands& operands, int lane, const Box& box,
              const TensorRow& row, bool is_load, std::vector<Movement>& to) {
  std::byte* global =
      resolve_range(c, operands.map, row.address,
                    {.bytes = row.bytes, .alignment = 1, .is_write = !is_load}, lane);
  if (global == nullptr) {
    return false;
  }
  settle_for_copy(c, lane, global, row.bytes);
  const std::uint32_t begin = row.offset + row.before;
  const bool is_whole = box.map.swizzle == TensorSwizzle::kNone;
  for (std::uint32_t done = 0; done < row.bytes;) {
    const std::uint32_t offset = begin + done;
    const std::uint32_t bytes =
        is_whole ? row.bytes : std::min(row.bytes - done, kChunk - offset % kChunk);
    Movement movement;
    movement.to = is_load ? box.place(offset) : global + done;
    movement.from = is_load ? global + done : box.place(offset);
    movement.bytes = bytes;
    if (operands.reduces) {
      movement.reduction = operands.reductions.at(static_cast<std::size_t>(box.map.element));
      movement.element_bytes = bytes_of(box.map.element);
    }
    to.push_back(movement);
    done += bytes;
  }
  return true;
}

// False: the launch has failed.
bool divide(Context& c, const TensorOperands& operands, int lane, const Box& box, bool is_load,
            std::vector<Movement>& to) {
  const std::uint32_t row_bytes = box.map.row_bytes();
  for (std::uint32_t i = 0; i < box.map.rows(); ++i) {
    const TensorRow row = row_of_box(box.map, box.at, i, box.offsets);
    const std::uint32_t begin = row.offset + row.before;
    if (row.bytes != 0 && !move_row(c, operands, lane, box, row, is_load, to)) {
      return false;
    }
    if (is_load) {
      fill(box, row.offset, begin, to);
      fill(box, begin + row.bytes, row.offset + row_bytes, to);
    }
  }
  return true;
}

// The mbarrier counts all bytes of the box, once they are there.
void start(const std::vector<Movement>& movements, std::uint64_t* mbarrier, std::uint32_t bytes,
           Cluster& cluster) {
  for (std::size_t i = 0; i < movements.size(); ++i) {
    cluster.transfers.push_back({.movement = movements[i],
                                 .mbarrier = mbarrier,
                                 .signalled = i + 1 == movements.size() ? bytes : 0});
  }
}

}  // namespace

Step execute_tensor_load(Context& c, const Instruction& in, std::uint32_t mask) {
  const TensorOperands& operands = operands_of(in);
  std::uint64_t words[kLanes];
  if (!resolve_mbarriers(c, operands.mbarrier, mask, words)) {
    return Step::kSwitch;
  }
  Cluster& cluster = *c.cta->cluster;
  for (const int lane : SetBits<int>(mask)) {
    std::vector<Movement> movements;
    const std::optional<Box> box = bind_box(c, operands, lane, true);
    if (!box || !divide(c, operands, lane, *box, true, movements)) {
      return Step::kSwitch;
    }
    auto* const mbarrier = host_address<std::byte>(words[lane]);
    if (operands.ctas == kNoSlot) {
      start(movements, host_address<std::uint64_t>(words[lane]), box->bytes, cluster);
      continue;
    }
    const std::uint32_t ranks = source<std::uint32_t>(c, operands.ctas)[lane];
    for (const auto& cta : cluster.ctas) {
      if ((ranks >> cta->rank & 1) == 0) {
        continue;
      }
      std::vector<Movement> copies = movements;
      for (Movement& copy : copies) {
        copy.to = in_cta(c, copy.to, *cta);
      }
      settle_for_copy(c, lane, in_cta(c, box->shared, *cta),
                      static_cast<std::uint32_t>(box->map.reach()));
      start(copies, reinterpret_cast<std::uint64_t*>(in_cta(c, mbarrier, *cta)), box->bytes,
            cluster);
    }
  }
  return Step::kNext;
}

Step execute_tensor_store(Context& c, const Instruction& in, std::uint32_t mask) {
  const TensorOperands& operands = operands_of(in);
  for (const int lane : SetBits<int>(mask)) {
    std::vector<Movement> movements;
    const std::optional<Box> box = bind_box(c, operands, lane, false);
    if (!box) {
      return Step::kSwitch;
    }
    if (operands.reduces &&
        operands.reductions.at(static_cast<std::size_t>(box->map.element)) == nullptr) {
      refuse(c, operands.map, lane, "a reduction of elements of this type");
      return Step::kSwitch;
    }
    if (!divide(c, operands, lane, *box, false, movements)) {
      return Step::kSwitch;
    }
    for (const Movement& movement : movements) {
      c.warp->bulk_copies.add(static_cast<std::uint32_t>(lane), movement);
    }
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator
