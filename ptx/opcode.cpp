#include "ptx/opcode.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ptx/asynchronous_effect.h"
#include "ptx/matrix_layout.h"

namespace barracuda::ptx {

namespace {

using wire::MemoryOrder;
using wire::Proxy;
using wire::Scope;
using enum OpcodeClass;

constexpr int kNone = -1;
constexpr int kFirstAddress = -2;

// Flags of a row.
constexpr unsigned kNotCovered = 1;
constexpr unsigned kAsyncProxy = 2;
constexpr unsigned kReadOnlyProxy = 4;

struct Row {
  std::string_view head;
  std::string_view modifiers;
  OpcodeClass opcode_class;
  int address;
  int value;
  unsigned flags;
};

constexpr auto kRows = std::to_array<Row>({
#define OPCODE(head, modifiers, opcode_class, address, value, flags) \
  {head, modifiers, opcode_class, address, value, flags},
#include "ptx/opcodes.def"
#undef OPCODE
});
static_assert(std::ranges::is_sorted(kRows, {}, &Row::head));

bool matches(const Row& row, const Instruction& instruction) {
  std::string_view rest = row.modifiers;
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    if (!instruction.has(rest.substr(0, space))) {
      return false;
    }
    rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
  }
  return true;
}

const Row* find_row(const Instruction& instruction) {
  const auto rows = std::ranges::equal_range(kRows, instruction.opcode, {}, &Row::head);
  const auto* row = std::ranges::find_if(
      rows, [&](const Row& candidate) { return matches(candidate, instruction); });
  return row == rows.end() ? nullptr : row;
}

int first_address(const Instruction& instruction) {
  const auto found =
      std::ranges::find(instruction.operands, Operand::Kind::kAddress, &Operand::kind);
  return found == instruction.operands.end()
             ? kNone
             : static_cast<int>(found - instruction.operands.begin());
}

// What the modifiers say, in whatever order they stand.
struct Modifiers {
  bool has_order = false, has_scope = false;
  bool is_volatile = false, is_mmio = false, is_read_only = false;
};

bool read_order(std::string_view word, Effect& effect) {
  if (word == "relaxed") {
    effect.order = MemoryOrder::kRelaxed;
  } else if (word == "acquire") {
    effect.order = MemoryOrder::kAcquire;
  } else if (word == "release") {
    effect.order = MemoryOrder::kRelease;
  } else if (word == "acq_rel") {
    effect.order = MemoryOrder::kAcqRel;
  } else if (word == "sc") {
    effect.order = MemoryOrder::kSeqCst;
  } else {
    return false;
  }
  return true;
}

bool read_scope(std::string_view word, Effect& effect) {
  if (word == "cta") {
    effect.scope = Scope::kCta;
  } else if (word == "cluster") {
    effect.scope = Scope::kCluster;
  } else if (word == "gpu" || word == "gl") {
    effect.scope = Scope::kGpu;
  } else if (word == "sys") {
    effect.scope = Scope::kSys;
  } else {
    return false;
  }
  return true;
}

// Where a copy names two spaces, the first is the destination's.
bool read_space(std::string_view word, Effect& effect) {
  StateSpace space = StateSpace::kNone;
  if (word == "global") {
    space = StateSpace::kGlobal;
  } else if (word == "shared" || word == "shared::cta" || word == "shared::cluster") {
    space = StateSpace::kShared;
  } else if (word == "local") {
    space = StateSpace::kLocal;
  } else if (word == "const") {
    space = StateSpace::kConst;
  } else if (word == "param" || word == "param::entry" || word == "param::func") {
    space = StateSpace::kParam;
  } else {
    return false;
  }
  if (effect.space == StateSpace::kNone) {
    effect.space = space;
    effect.shared_cluster = word == "shared::cluster";
  } else if (effect.source_space == StateSpace::kNone) {
    effect.source_space = space;
    effect.source_shared_cluster = word == "shared::cluster";
  }
  return true;
}

Modifiers read_modifiers(const Instruction& instruction, Effect& effect) {
  Modifiers modifiers;
  for (const std::string_view word : instruction.modifiers) {
    if (read_space(word, effect)) {
      continue;
    }
    if (read_order(word, effect)) {
      modifiers.has_order = true;
    } else if (read_scope(word, effect)) {
      modifiers.has_scope = true;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      effect.elements = static_cast<std::uint8_t>(word[1] - '0');
    } else if (word == "volatile") {
      modifiers.is_volatile = true;
    } else if (word == "mmio") {
      modifiers.is_mmio = true;
    } else if (word == "nc") {
      modifiers.is_read_only = true;
    } else if (const ScalarType type = parse_scalar_type(word); type != ScalarType::kNone) {
      effect.type = type;
    }
  }
  return modifiers;
}

void set_access(const Instruction& instruction, const Modifiers& modifiers, Effect& effect) {
  if (effect.space == StateSpace::kNone) {
    effect.space = StateSpace::kGeneric;
  }
  const bool is_atomic = effect.opcode_class == kAtomic || effect.opcode_class == kReduction;
  if (is_atomic) {
    effect.order = modifiers.has_order ? effect.order : MemoryOrder::kRelaxed;
    effect.scope = modifiers.has_scope ? effect.scope : Scope::kGpu;
    effect.is_cas = instruction.has("cas");
  } else if (modifiers.is_volatile) {
    effect.order = MemoryOrder::kVolatile;
    effect.scope = Scope::kSys;
  } else if (modifiers.is_mmio) {
    effect.order = MemoryOrder::kRelaxed;
    effect.scope = Scope::kSys;
  }
  if (modifiers.is_read_only) {
    effect.proxy = Proxy::kReadOnly;
  }
}

void set_fence(const Instruction& instruction, const Modifiers& modifiers, Effect& effect) {
  if (instruction.opcode == "membar") {
    effect.order = MemoryOrder::kSeqCst;
  } else if (!modifiers.has_order) {
    effect.order = MemoryOrder::kAcqRel;
  }
  effect.is_restricted = instruction.has("mbarrier_init");
}

void set_barrier(const Instruction& instruction, Effect& effect) {
  const int count = static_cast<int>(instruction.operands.size());
  const bool is_reduction = effect.opcode_class == kBarrier && instruction.has("red");
  effect.barrier_operand = is_reduction ? 1 : 0;
  // Behind the count of a reduction stands its predicate.
  const bool has_count = is_reduction ? count > 3 : count > 1;
  effect.count_operand = has_count ? effect.barrier_operand + 1 : -1;
}

// Arrivals release and waits acquire unless they are .relaxed.
void set_arrive_wait(const Instruction& instruction, const Modifiers& modifiers, Scope scope,
                     Effect& effect) {
  if (!modifiers.has_scope || effect.opcode_class == kClusterBarrier) {
    effect.scope = scope;
  }
  if (modifiers.has_order) {
    return;
  }
  if (instruction.has("arrive") || instruction.has("arrive_drop")) {
    effect.order = MemoryOrder::kRelease;
  } else if (instruction.has("wait") || instruction.has("test_wait") ||
             instruction.has("try_wait")) {
    effect.order = MemoryOrder::kAcquire;
  } else if (!instruction.has("init") && !instruction.has("inval")) {
    effect.order = MemoryOrder::kRelaxed;
  }
}

void set_class_details(const Instruction& instruction, const Modifiers& modifiers, Effect& effect) {
  switch (effect.opcode_class) {
    case kLoad:
    case kStore:
    case kAtomic:
    case kReduction:
      set_access(instruction, modifiers, effect);
      break;
    case kMatrixAccess:
      set_access(instruction, modifiers, effect);
      effect.not_covered = !read_matrix_layout(instruction);
      break;
    case kAsyncCopy:
      set_access(instruction, modifiers, effect);
      set_asynchronous_effect(instruction, effect);
      break;
    case kFence:
      set_fence(instruction, modifiers, effect);
      break;
    case kBarrier:
    case kBarrierArrive:
      set_barrier(instruction, effect);
      break;
    case kMbarrier:
      set_access(instruction, modifiers, effect);
      set_arrive_wait(instruction, modifiers, Scope::kCta, effect);
      set_asynchronous_effect(instruction, effect);
      break;
    case kClusterBarrier:
      set_arrive_wait(instruction, modifiers, Scope::kCluster, effect);
      set_asynchronous_effect(instruction, effect);
      break;
    case kGridDependency:
    case kProxyFence:
      set_asynchronous_effect(instruction, effect);
      break;
    case kArithmetic:
    case kWarpBarrier:
    case kWarpCollective:
    case kBranch:
    case kCall:
    case kReturn:
    case kExit:
    case kTrap:
    case kNoEffect:
    case kTexture:
    case kUnknown:
      break;
  }
}

}  // namespace

Effect classify(const Instruction& instruction) {
  Effect effect;
  const Row* row = find_row(instruction);
  if (row == nullptr) {
    effect.address_operand = first_address(instruction);
    effect.not_covered = effect.address_operand != kNone;
    return effect;
  }
  effect.opcode_class = row->opcode_class;
  if (effect.opcode_class == kArithmetic) {
    read_modifiers(instruction, effect);
    return effect;
  }
  effect.address_operand =
      row->address == kFirstAddress ? first_address(instruction) : row->address;
  effect.value_operand = row->value;
  effect.not_covered = (row->flags & kNotCovered) != 0;
  effect.proxy = (row->flags & kAsyncProxy) != 0      ? Proxy::kAsync
                 : (row->flags & kReadOnlyProxy) != 0 ? Proxy::kReadOnly
                                                      : Proxy::kGeneric;
  const Modifiers modifiers = read_modifiers(instruction, effect);
  set_class_details(instruction, modifiers, effect);
  return effect;
}

}  // namespace barracuda::ptx
