// The wire format of one record: what one warp-level instruction did, 32 bytes where its addresses
// follow a pattern, with extension slots where they do not. Device and host share this header.
//
// A ring is an array of 32-byte slots. Every slot is two 16-byte halves, and every half starts with
// the 16-bit tag of its lap (lap_tag), so a half becomes valid by itself: no fence, no flag, and no
// lane waits for another. The bytes of a half are written by one 16-byte store.
//
// Bump kProtocolVersion with any change here: recorded traces and cached images carry it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/site_info.h"

#ifdef __CUDACC__
#  define BARRACUDA_WIRE __host__ __device__ constexpr
#else
#  define BARRACUDA_WIRE constexpr
#endif

namespace barracuda::wire {

inline constexpr std::uint32_t kProtocolVersion = 7;
inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::size_t kSlotBytes = 32;
inline constexpr std::size_t kHalfBytes = 16;

// The tag of the slot with running number `slot` in a ring of 2^slots_log2 slots. Rings start
// zeroed and lap 0 has tag 1; a tag comes back after 65536 laps, when every half has long been
// rewritten.
BARRACUDA_WIRE std::uint16_t lap_tag(std::uint64_t slot, std::uint32_t slots_log2) {
  return static_cast<std::uint16_t>((slot >> slots_log2) + 1);
}

// What follows the header slot. n is the number of active lanes; entries come in lane order.
enum class RecordKind : std::uint8_t {
  kVoid = 0,    // claimed and empty; header.slot_count says how many slots in all
  kAffine = 1,  // access: lane l touches base + (l % w) * stride0 + (l / w) * stride1; no entries
  kScattered = 2,  // access: n LaneAddress entries, two a slot
  kRelease = 3,    // strong write or write half of an atomic: n LaneRelease entries of two slots;
                   // the slots are claimed before the access, written after it
  kAcquire = 4,    // strong read or read half of an atomic: n LaneAcquire entries of one slot;
                   // claimed after the access
  kEvent = 5,      // fence, barrier, warp barrier, call, return, exit: the site says which
  kOperands = 6,  // mbarrier operations, kCopy, kMatrixProduct: n LaneOperands entries of two slots
  kAffineValue = 7,  // kAffine, and in a slot of its own the value that all lanes stored
  kEarlier = 8,      // access of one lane, made earlier in the barrier interval of its block and
                     // logged by another (shared_states.h); in a slot of its own the value, if it
                     // is known. stride0 is the number of its interval, 0 where barriers of warps
                     // are not counted
  kTensorCopy = 9,   // one lane's copy of a box of a tensor, or in a bulk group that of all lanes
                     // with the same operands: a TensorCopy of two slots
  kBlockEvent = 10,  // kEvent of every thread of the block (block_events.h); warp and mask are of
                     // who logs it; of an exit, `threads` is the number of other blocks that have
                     // ended and that nothing else is logged of
  kSettled = 11,     // access of one lane of this or another block, ordered before all that its
                     // block does now, and after nothing that another block has done in the launch
                     // (word_owners.h); as kEarlier, and the block is reserved1 of the value
  kWarpBarriers = 12,  // barriers of a whole warp since the last of its block, those that were
                       // logged before among them: as many as an interval's number says
                       // (shared_states.h, kCountsWarps), which is base_low
};

// Lane addresses are 57 bits: the space in the two highest, the address or offset below.
enum class AddressSpace : std::uint8_t {
  kGlobal = 0,         // an address in the generic window of global memory
  kShared = 1,         // an offset into the shared window of the executing CTA
  kSharedCluster = 2,  // (CTA rank in the cluster) << 32 | offset
};
inline constexpr int kSpaceBits = 2;
inline constexpr int kSpaceShift = 55;
inline constexpr int kAddressHighBits = 25;  // above the low word
static_assert(kSpaceShift + kSpaceBits == 32 + kAddressHighBits);
static_assert(static_cast<int>(AddressSpace::kSharedCluster) < 1 << kSpaceBits);

BARRACUDA_WIRE std::uint64_t tagged_address(AddressSpace space, std::uint64_t address) {
  return (static_cast<std::uint64_t>(space) << kSpaceShift) | address;
}

BARRACUDA_WIRE AddressSpace space_of(std::uint64_t tagged) {
  return static_cast<AddressSpace>(tagged >> kSpaceShift);
}

BARRACUDA_WIRE std::uint64_t address_of(std::uint64_t tagged) {
  return tagged & ((std::uint64_t{1} << kSpaceShift) - 1);
}

static_assert(space_of(tagged_address(AddressSpace::kSharedCluster, 1)) ==
                  AddressSpace::kSharedCluster &&
              address_of(tagged_address(AddressSpace::kSharedCluster, 1)) == 1);

// Flags of a header (2 bits).
inline constexpr std::uint32_t kLanesAgree = 1;  // lanes that overlap stored the same bytes
// All lanes stored one value (stored_value): of at most 4 bytes in stride1 of a kAffine with w =
// 32; in the slot behind a kAffineValue; in base_low and stride1 of a kScattered.
inline constexpr std::uint32_t kUniformValue = 2;

inline constexpr int kSiteBits = 24, kKindBits = 4, kWidthBits = 4;
static_assert(kSiteBits + kKindBits + kWidthBits == 32);
static_assert(kMaxSites == 1U << kSiteBits);
static_assert(static_cast<std::uint32_t>(RecordKind::kWarpBarriers) < 1U << kKindBits);

// First half of the header slot.
struct HeaderHalf {
  std::uint16_t tag;
  std::uint16_t launch;  // low 16 bits of the launch id
  std::uint32_t site : kSiteBits;
  std::uint32_t kind : kKindBits;         // RecordKind
  std::uint32_t width_log2 : kWidthBits;  // w of kAffine and kAffineValue, 0..5; kVoid: unused
  std::uint32_t mask;                     // active lanes
  std::uint32_t cta;                      // linear index in the grid
};

static_assert(offsetof(HeaderHalf, tag) == 0 && offsetof(HeaderHalf, launch) == 2 &&
              offsetof(HeaderHalf, mask) == 8 && offsetof(HeaderHalf, cta) == 12 &&
              sizeof(HeaderHalf) == kHalfBytes);

inline constexpr int kWarpBits = 5, kFlagBits = 2;
static_assert(kAddressHighBits + kWarpBits + kFlagBits == 32);
static_assert((kLanesAgree | kUniformValue) == (1U << kFlagBits) - 1);
static_assert(1024 / kWarpLanes == 1U << kWarpBits, "a CTA has at most 1024 threads");

// Second half of the header slot.
struct PatternHalf {
  std::uint16_t tag;
  std::int16_t stride0;    // bytes
  std::uint32_t base_low;  // kEvent: barrier id, or member mask of a warp barrier;
                           // kVoid: number of slots, this one included
  std::uint32_t base_high : kAddressHighBits;
  std::uint32_t warp : kWarpBits;  // in its CTA
  std::uint32_t flags : kFlagBits;
  std::int32_t stride1;  // bytes, or the uniform value; kEvent: threads of the barrier, 0 = all
};

static_assert(offsetof(PatternHalf, tag) == 0 && offsetof(PatternHalf, stride0) == 2 &&
              offsetof(PatternHalf, base_low) == 4 && offsetof(PatternHalf, stride1) == 12 &&
              sizeof(PatternHalf) == kHalfBytes);

// Flags of lane entries (16 bits).
inline constexpr std::uint16_t kLaneAgrees = 1;   // other lanes at these bytes stored the same
inline constexpr std::uint16_t kLaneVoid = 2;     // release: the attempt wrote nothing (failed CAS)
inline constexpr std::uint16_t kLaneHasRead = 4;  // release: value_read holds (an atomic)
inline constexpr std::uint16_t kLaneHasWritten = 8;  // release: value_written holds
inline constexpr std::uint16_t kLaneCompares = 32;  // release: a compare-and-swap, which writes the
                                                    // bytes that it changes

// kScattered, one half a lane.
struct LaneAddress {
  std::uint16_t tag;
  std::uint16_t flags;
  std::uint32_t address_low;
  std::uint32_t address_high;  // 25 bits
  std::uint32_t reserved;
};

static_assert(offsetof(LaneAddress, tag) == 0 && offsetof(LaneAddress, flags) == 2 &&
              offsetof(LaneAddress, address_low) == 4 && offsetof(LaneAddress, address_high) == 8 &&
              offsetof(LaneAddress, reserved) == 12 && sizeof(LaneAddress) == kHalfBytes);

// First half of a LaneAcquire or LaneRelease entry.
struct LaneSyncHalf {
  std::uint16_t tag;
  std::uint16_t flags;
  std::uint32_t address_low;
  std::uint32_t address_high;  // 25 bits
  std::uint32_t number;        // order_number.h; 0 and unused for shared memory
};

static_assert(offsetof(LaneSyncHalf, tag) == 0 && offsetof(LaneSyncHalf, flags) == 2 &&
              offsetof(LaneSyncHalf, address_low) == 4 &&
              offsetof(LaneSyncHalf, address_high) == 8 && offsetof(LaneSyncHalf, number) == 12 &&
              sizeof(LaneSyncHalf) == kHalfBytes);

// A value of at most 64 bits, zero-extended.
struct LaneValueHalf {
  std::uint16_t tag;
  std::uint16_t reserved0;
  std::uint32_t value_low;
  std::uint32_t value_high;
  std::uint32_t reserved1;
};

static_assert(offsetof(LaneValueHalf, tag) == 0 && offsetof(LaneValueHalf, reserved0) == 2 &&
              offsetof(LaneValueHalf, value_low) == 4 && offsetof(LaneValueHalf, value_high) == 8 &&
              offsetof(LaneValueHalf, reserved1) == 12 && sizeof(LaneValueHalf) == kHalfBytes);

// The slot behind the header of a kAffineValue, kEarlier or kSettled.
struct StoredValueSlot {
  LaneValueHalf value;
  LaneValueHalf padding;  // tagged like the other
};

static_assert(sizeof(StoredValueSlot) == kSlotBytes);

// What stands for the value of a store of up to 16 bytes: up to 8 it is the value, beyond two that
// differ have the same by a chance of 2^-64.
BARRACUDA_WIRE std::uint64_t stored_value(std::uint64_t low, std::uint64_t high) {
  return low ^ high * 0x9E3779B97F4A7C15ULL;
}

// A lane's part of what stands for the words of all lanes (the finaliser of MurmurHash3).
BARRACUDA_WIRE std::uint64_t mix(std::uint64_t word, std::uint32_t lane) {
  word ^= std::uint64_t{lane + 1} << 56;
  word = (word ^ word >> 33) * 0xFF51AFD7ED558CCDULL;
  word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53ULL;
  return word ^ word >> 33;
}

struct LaneAcquire {
  LaneSyncHalf sync;
  LaneValueHalf value_read;
};

static_assert(offsetof(LaneAcquire, value_read) == kHalfBytes && sizeof(LaneAcquire) == kSlotBytes);

struct LaneRelease {
  LaneSyncHalf sync;
  LaneValueHalf value_read;
  LaneValueHalf value_written;
  LaneValueHalf padding;  // tagged like the others
};

static_assert(offsetof(LaneRelease, value_read) == kHalfBytes &&
              offsetof(LaneRelease, value_written) == 2 * kHalfBytes &&
              offsetof(LaneRelease, padding) == 3 * kHalfBytes &&
              sizeof(LaneRelease) == 2 * kSlotBytes);

// What a lane of kOperands says, by the operation of its site:
//   kMbarrierInit        target: the mbarrier; amount: its count
//   kMbarrierInvalidate  target
//   kMbarrierArrive      target; amount: the count; second: bytes expected; kLaneDrops in flags
//   kMbarrierExpect, kMbarrierComplete  target; second: bytes
//   kMbarrierWait        target; amount: the parity waited for, kUnknownParity for a wait by state
//   kAsyncArrive         target; amount: 1 for .noinc and tcgen05.commit, else 0
//   kCopy                target: where to; amount: bytes; second: where from, tagged, kNoOperand if
//                        nowhere; third: the mbarrier, tagged, kNoOperand if none; flags: CTA mask
//                        of a multicast, 0 without. The mbarrier of a multicast stands for those at
//                        its offset in every CTA of the mask
//   kMatrixProduct       second, third: the descriptors of A and B (matrix_descriptor.h), A's is
//                        kNoOperand if it lies in registers; target and amount say nothing. One
//                        lane stands for the warp. Of kTensorCore each lane issues its own; A's is
//                        also what a copy reads; amount: the instruction descriptor of a product
// A cp.async is no kCopy: it is a kWrite of all bytes that it writes (those that it does not read
// are zeros) and a kRead of those that it reads, by lane in pieces of a power of two of bytes: one
// site of the whole size, and where an operand says how many are read, sites of 8, 4, 2 and 1
// bytes.
struct LaneOperands {
  LaneSyncHalf target;  // number: the amount
  LaneValueHalf second;
  LaneValueHalf third;
  LaneValueHalf padding;  // tagged like the others
};

static_assert(offsetof(LaneOperands, second) == kHalfBytes &&
              offsetof(LaneOperands, third) == 2 * kHalfBytes &&
              offsetof(LaneOperands, padding) == 3 * kHalfBytes &&
              sizeof(LaneOperands) == 2 * kSlotBytes);

// What follows the header of a kTensorCopy. The map is told by a number of its 128 bytes, for what
// they mean the device's driver alone knows: the host has seen it write them.
struct TensorCopy {
  LaneSyncHalf shared;     // the box's address there; flags: CTA mask; number: coordinate 0
  LaneValueHalf map;       // map_number of the map; reserved1: coordinate 1
  LaneValueHalf mbarrier;  // tagged, kNoOperand if none; reserved1: coordinate 2
  LaneValueHalf more;      // value: coordinates 3 and 4; reserved1: pixel_offsets
};

static_assert(offsetof(TensorCopy, map) == kHalfBytes &&
              offsetof(TensorCopy, mbarrier) == 2 * kHalfBytes &&
              offsetof(TensorCopy, more) == 3 * kHalfBytes && sizeof(TensorCopy) == 2 * kSlotBytes);

// The offsets of im2col in one word: the more there are, the fewer bits each has.
BARRACUDA_WIRE std::uint32_t pixel_offsets(std::uint32_t width, std::uint32_t height,
                                           std::uint32_t depth) {
  return (width & 0xFFFF) | (height & 0xFF) << 16 | (depth & 0xFF) << 24;
}

inline constexpr std::uint32_t kMapWords = 16;  // of 64 bits

// word_at(i): the words of a map. Two maps have one number by a chance of 2^-64.
template <class WordAt>
BARRACUDA_WIRE std::uint64_t map_number(const WordAt& word_at) {
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < kMapWords; ++i) {
    number = mix(number ^ word_at(i), i);
  }
  return number;
}

inline constexpr std::uint16_t kLaneDrops = 16;  // flag of kMbarrierArrive: arrive_drop
static_assert(kLaneAgrees + kLaneVoid + kLaneHasRead + kLaneHasWritten + kLaneDrops +
                      kLaneCompares ==
                  (1U << 6) - 1,
              "each flag of a lane is a bit of its own");
inline constexpr std::uint32_t kUnknownParity = 2;

// The address of all records of kHeap, so that they are in one order: a free is a kRelease before
// it, a malloc a kAcquire after it, which comes after the frees before it, and then a kRelease with
// the pointer as the value read and its bytes as the value written.
inline constexpr std::uint64_t kHeapOrder = tagged_address(AddressSpace::kGlobal, 8);
inline constexpr std::uint64_t kNoOperand = ~std::uint64_t{0};
// kAsyncWait is a kEvent; its operand says how many groups may be left, this many for wait_all.
inline constexpr std::uint32_t kWaitAll = ~std::uint32_t{0};

// Slots of a record with `lanes` active lanes, header included (kVoid says so itself).
BARRACUDA_WIRE std::uint32_t record_slots(RecordKind kind, std::uint32_t lanes) {
  return kind == RecordKind::kScattered                                  ? 1 + (lanes + 1) / 2
         : kind == RecordKind::kRelease || kind == RecordKind::kOperands ? 1 + 2 * lanes
         : kind == RecordKind::kAcquire                                  ? 1 + lanes
         : kind == RecordKind::kAffineValue || kind == RecordKind::kEarlier ||
                 kind == RecordKind::kSettled
             ? 2
         : kind == RecordKind::kTensorCopy ? 3
                                           : 1;
}

inline constexpr std::uint32_t kMaxRecordSlots = 1 + 2 * kWarpLanes;
static_assert(record_slots(RecordKind::kRelease, kWarpLanes) == kMaxRecordSlots &&
              record_slots(RecordKind::kOperands, kWarpLanes) == kMaxRecordSlots &&
              record_slots(RecordKind::kAcquire, kWarpLanes) < kMaxRecordSlots &&
              record_slots(RecordKind::kScattered, kWarpLanes) < kMaxRecordSlots);

}  // namespace barracuda::wire
