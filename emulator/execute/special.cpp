// Special registers, addresses that are known only in a launch, address windows, and moves between
// registers of different widths.
#include "emulator/execute/special.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "emulator/execute/control.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

using baseline::fill;
using baseline::source;
using baseline::target;
using std::uint32_t;
using std::uint64_t;

namespace {

enum class Special : std::uint8_t {
#define REGISTER(id, text) k##id,
#define VECTOR(id, text) k##id##X, k##id##Y, k##id##Z,
#define ALIAS(id, text)
#define WIDE(id, text)
#include "ptx/special_registers.def"
  kEnvReg1,
  kEnvReg2,
  kZero,
#define WIDE(id, text) k##id,
#include "ptx/special_registers.def"
};
constexpr auto kFirst64 = Special::kGridId;

struct Name {
  std::string_view name;
  Special number;
  std::string_view component = "";
};

constexpr Name kNames[] = {
#define REGISTER(id, text) {.name = text, .number = Special::k##id},
#define COMPONENT(id, text, axis) {.name = text, .number = Special::k##id, .component = axis},
#define VECTOR(id, text) \
  COMPONENT(id##X, text, "x") COMPONENT(id##Y, text, "y") COMPONENT(id##Z, text, "z")
#include "ptx/special_registers.def"
#undef COMPONENT
    {.name = "%reserved_smem_offset_0", .number = Special::kReservedOffset},
    {.name = "%reserved_smem_offset_1", .number = Special::kReservedOffset},
    {.name = "%envreg1", .number = Special::kEnvReg1},
    {.name = "%envreg2", .number = Special::kEnvReg2},
};

uint32_t axis(const Dim3& dimension, int number) {
  return number == 0 ? dimension.x : number == 1 ? dimension.y : dimension.z;
}

// With a seed time is instructions, so that it repeats.
uint64_t global_timer(const Context& c) {
  if (c.launch->is_seeded) {
    return c.now() + 1'000'000'000;
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

uint64_t reserved(const Context& c, Special number) {
  if (number == Special::kReservedSize) {
    return kReservedSharedBytes;
  }
  const uint64_t begin = reserved_shared_offset(c.shared_bytes);
  return number == Special::kReservedEnd ? begin + kReservedSharedBytes : begin;
}

// Registers that all threads of a CTA see alike, in the order of the enumerators.
uint64_t dimension_value(const Context& c, int number) {
  const LaunchConfig& config = c.launch->config;
  const Dim3& source_of = number < 6 ? config.block : number < 9 ? c.cta->index : config.grid;
  return axis(source_of, number % 3);
}

// In the order of the enumerators from kClusterIdX on.
uint64_t cluster_value(const Context& c, int number) {
  const LaunchConfig& config = c.launch->config;
  const int component = number % 3;
  const uint32_t shape = axis(config.cluster, component);
  switch (number / 3) {
    case 0:
      return axis(c.cta->index, component) / shape;
    case 1:
      return axis(config.grid, component) / shape;
    case 2:
      return axis(c.cta->index, component) % shape;
    case 3:
      return shape;
    default:
      return component == 0   ? c.cta->rank
             : component == 1 ? config.cluster.volume()
                              : uint64_t{config.cluster.volume() > 1};
  }
}

uint64_t uniform_value(const Context& c, Special number) {
  const LaunchConfig& config = c.launch->config;
  const auto index = static_cast<int>(number);
  if (number <= Special::kNctaidZ) {
    return dimension_value(c, index);
  }
  if (number >= Special::kClusterIdX && number <= Special::kIsExplicitCluster) {
    return cluster_value(c, index - static_cast<int>(Special::kClusterIdX));
  }
  if (number >= Special::kReservedOffset && number <= Special::kReservedSize) {
    return reserved(c, number);
  }
  if (number == Special::kWarpId) {
    return c.warp->index;
  }
  if (number == Special::kNwarpId) {
    return kMaximumWarpsPerMultiprocessor;
  }
  if (number == Special::kSmId) {
    return c.cta->number % kMultiprocessors;
  }
  if (number == Special::kNsmId) {
    return kMultiprocessors;
  }
  if (number == Special::kEnvReg1) {
    return c.launch->grid_workspace >> 32;
  }
  if (number == Special::kEnvReg2) {
    return c.launch->grid_workspace & 0xffffffffU;
  }
  if (number == Special::kDynamicSharedSize) {
    return config.dynamic_shared_bytes;
  }
  return number == Special::kTotalSharedSize ? c.shared_bytes
         : number == Special::kGridId        ? c.launch->grid_id
                                             : 0;
}

uint64_t time_value(const Context& c, Special number) {
  const uint64_t time = global_timer(c);
  const bool high = number == Special::kGlobalTimerHi || number == Special::kClockHi;
  return high ? time >> 32 : time;
}

uint32_t lane_mask(Special number, int lane) {
  const uint32_t own = uint32_t{1} << lane, below = own - 1;
  if (number == Special::kLaneMaskEq) {
    return own;
  }
  if (number == Special::kLaneMaskLt) {
    return below;
  }
  if (number == Special::kLaneMaskLe) {
    return below | own;
  }
  return number == Special::kLaneMaskGt ? ~(below | own) : ~below;
}

bool is_time(Special number) {
  return number == Special::kClock || number == Special::kClockHi || number == Special::kClock64 ||
         number == Special::kGlobalTimer || number == Special::kGlobalTimerLo ||
         number == Special::kGlobalTimerHi;
}

}  // namespace

int special_register(std::string_view name, std::string_view component) {
  for (const Name& entry : kNames) {
    if (entry.name == name && entry.component == component) {
      return static_cast<int>(entry.number);
    }
  }
  // The other environment registers are zero.
  return name.starts_with("%envreg") ? static_cast<int>(Special::kZero) : -1;
}

ptx::ScalarType special_type(int number) {
  return number >= static_cast<int>(kFirst64) ? ptx::ScalarType::kU64 : ptx::ScalarType::kU32;
}

Step execute_special(Context& c, const Instruction& in, uint32_t mask) {
  const auto number = static_cast<Special>(in.immediate);
  if (number <= Special::kTidZ) {
    const uint32_t* tid = c.warp->tid[in.immediate];
    fill(target<uint32_t>(c, in.d), mask, [tid](int i) { return tid[i]; });
  } else if (number == Special::kLaneId) {
    fill(target<uint32_t>(c, in.d), mask, [](int i) { return static_cast<uint32_t>(i); });
  } else if (number >= Special::kLaneMaskEq && number <= Special::kLaneMaskGt) {
    fill(target<uint32_t>(c, in.d), mask, [number](int i) { return lane_mask(number, i); });
  } else {
    const uint64_t value = is_time(number) ? time_value(c, number) : uniform_value(c, number);
    if (number >= kFirst64) {
      fill(target<uint64_t>(c, in.d), mask, [value](int) { return value; });
    } else {
      fill(target<uint32_t>(c, in.d), mask, [value](int) { return static_cast<uint32_t>(value); });
    }
  }
  return Step::kNext;
}

Step execute_local_address(Context& c, const Instruction& in, uint32_t mask) {
  const uint64_t address = c.frame->local_base + static_cast<uint64_t>(in.immediate);
  fill(target<uint64_t>(c, in.d), mask, [address](int) { return address; });
  return Step::kNext;
}

Step execute_parameter_address(Context& c, const Instruction& in, uint32_t mask) {
  const auto address =
      reinterpret_cast<uint64_t>(c.launch->parameters) + static_cast<uint64_t>(in.immediate);
  fill(target<uint64_t>(c, in.d), mask, [address](int) { return address; });
  return Step::kNext;
}

namespace {

uint64_t window_base(const Context& c, const Instruction& in) {
  const auto window = static_cast<AddressWindow>(in.flags);
  return window == AddressWindow::kShared  ? c.windows.shared()
         : window == AddressWindow::kLocal ? c.windows.local()
                                           : 0;
}

}  // namespace

Step execute_to_generic(Context& c, const Instruction& in, uint32_t mask) {
  const uint64_t base = window_base(c, in);
  const auto* a = source<uint64_t>(c, in.a);
  fill(target<uint64_t>(c, in.d), mask, [&](int i) { return a[i] + base; });
  return Step::kNext;
}

Step execute_from_generic(Context& c, const Instruction& in, uint32_t mask) {
  const uint64_t base = window_base(c, in);
  const auto* a = source<uint64_t>(c, in.a);
  fill(target<uint64_t>(c, in.d), mask, [&](int i) { return a[i] - base; });
  return Step::kNext;
}

AddressWindow window_of(const Context& c, uint64_t address) {
  if (c.windows.is_shared(address)) {
    const uint64_t share = (address - c.windows.shared()) / kClusterShare;
    return share == 0 || share == uint64_t{c.cta->rank} + 1 ? AddressWindow::kSharedOfCta
                                                            : AddressWindow::kShared;
  }
  if (c.windows.is_local(address)) {
    return AddressWindow::kLocal;
  }
  const auto parameters = reinterpret_cast<uint64_t>(c.launch->parameters);
  if (address - parameters < c.launch->program.parameter_bytes) {
    return AddressWindow::kParameter;
  }
  const auto& ranges = c.launch->program.const_ranges;
  const bool is_const = std::ranges::any_of(ranges, [address](const auto& range) {
    return address >= range.first && address < range.second;
  });
  return is_const ? AddressWindow::kConst : AddressWindow::kGlobal;
}

Step execute_is_space(Context& c, const Instruction& in, uint32_t mask) {
  const auto wanted = static_cast<AddressWindow>(in.flags);
  const auto* a = source<uint64_t>(c, in.a);
  uint32_t result = 0;
  for (const int lane : SetBits<int>(mask)) {
    const AddressWindow window = window_of(c, a[lane]);
    const bool inside = window == wanted ||
                        (wanted == AddressWindow::kShared && window == AddressWindow::kSharedOfCta);
    result |= inside ? uint32_t{1} << lane : 0U;
  }
  baseline::set_predicate(c, in.d, result, mask);
  return Step::kNext;
}

Step execute_widen(Context& c, const Instruction& in, uint32_t mask) {
  const auto* a = source<uint32_t>(c, in.a);
  fill(target<uint64_t>(c, in.d), mask, [a](int i) { return uint64_t{a[i]}; });
  return Step::kNext;
}

Step execute_widen_signed(Context& c, const Instruction& in, uint32_t mask) {
  const auto* a = source<std::int32_t>(c, in.a);
  fill(target<std::int64_t>(c, in.d), mask, [a](int i) { return std::int64_t{a[i]}; });
  return Step::kNext;
}

Step execute_narrow(Context& c, const Instruction& in, uint32_t mask) {
  const auto* a = source<uint64_t>(c, in.a);
  fill(target<uint32_t>(c, in.d), mask, [a](int i) { return static_cast<uint32_t>(a[i]); });
  return Step::kNext;
}

namespace {

// The halves of a 128-bit register are 64-bit registers in a row.
constexpr Slot kHalfBytes = kLanes * 8;

using WholeWords = std::array<std::array<uint64_t, kLanes>, 2>;

uint64_t part_mask(unsigned bits) {
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace

// Lane by lane within a part, so that the loops become vectors: doubles pass through here for each
// shuffle.
Step execute_pack(Context& c, const Instruction& in, uint32_t mask) {
  const auto& parts = *static_cast<const VectorSlots*>(in.extra);
  const unsigned bits = in.flags, total = bits * in.count;
  const uint64_t kept = part_mask(bits);
  WholeWords words{};
  for (unsigned k = 0; k < in.count; ++k) {
    auto& word = words[k * bits / 64];
    if (bits == 64) {
      std::copy_n(source<uint64_t>(c, parts.slots[k]), kLanes, word.begin());
      continue;
    }
    const auto* part = source<uint32_t>(c, parts.slots[k]);
    const unsigned shift = k * bits % 64;
    for (std::size_t i = 0; i < kLanes; ++i) {
      word[i] |= (part[i] & kept) << shift;
    }
  }
  const auto word_of = [&words](unsigned number) {
    return [word = words[number].data()](int i) { return word[i]; };
  };
  if (total <= 32) {
    fill(target<uint32_t>(c, in.d), mask,
         [&words](int i) { return static_cast<uint32_t>(words[0][static_cast<std::size_t>(i)]); });
    return Step::kNext;
  }
  fill(target<uint64_t>(c, in.d), mask, word_of(0));
  if (total > 64) {
    fill(target<uint64_t>(c, in.d + kHalfBytes), mask, word_of(1));
  }
  return Step::kNext;
}

Step execute_unpack(Context& c, const Instruction& in, uint32_t mask) {
  const auto& parts = *static_cast<const VectorSlots*>(in.extra);
  const unsigned bits = in.flags, total = bits * in.count;
  const uint64_t kept = part_mask(bits);
  WholeWords words{};
  if (total <= 32) {
    std::copy_n(source<uint32_t>(c, in.a), kLanes, words[0].begin());
  } else {
    std::copy_n(source<uint64_t>(c, in.a), kLanes, words[0].begin());
  }
  if (total > 64) {
    std::copy_n(source<uint64_t>(c, in.a + kHalfBytes), kLanes, words[1].begin());
  }
  for (unsigned k = 0; k < in.count; ++k) {
    const Slot slot = parts.slots[k];
    if (slot == kNoSlot) {
      continue;
    }
    const uint64_t* word = words[k * bits / 64].data();
    const unsigned shift = k * bits % 64;
    if (bits == 64) {
      fill(target<uint64_t>(c, slot), mask, [word](int i) { return word[i]; });
    } else {
      fill(target<uint32_t>(c, slot), mask,
           [word, shift, kept](int i) { return static_cast<uint32_t>((word[i] >> shift) & kept); });
    }
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator
