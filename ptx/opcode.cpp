#include "ptx/opcode.h"

#include <algorithm>
#include <array>

#include "base/tensor_map.h"
#include "ptx/forms.h"
#include "ptx/matrix_layout.h"
#include "ptx/tensor_instruction.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::ptx {

namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::Scope;
using enum OpcodeClass;

int first_address(const Instruction& instruction) {
  const auto found =
      std::ranges::find(instruction.operands, Operand::Kind::kAddress, &Operand::kind);
  return found == instruction.operands.end()
             ? -1
             : static_cast<int>(found - instruction.operands.begin());
}

// What one modifier says of an access or of an order.
struct Meaning {
  ScalarType type = ScalarType::kNone;
  StateSpace space = StateSpace::kNone;
  std::optional<MemoryOrder> order;
  std::optional<Scope> scope;
  std::uint8_t elements = 0;
};

constexpr auto kMeanings = std::to_array<Meaning>({
    {},
#define MODIFIER(name, text) {},
#define TYPE(name, text, bytes) {.type = ScalarType::name},
#define SPACE(name, text, of) {.space = StateSpace::of},
#define ORDER(name, text, of) {.order = MemoryOrder::of},
#define SCOPE(name, text, of) {.scope = Scope::of},
#define ELEMENTS(name, text, count) {.elements = (count)},
#include "ptx/modifiers.def"
});

// Where a copy names two spaces, the first is the destination's.
void set_space(StateSpace space, bool is_cluster, Effect& effect) {
  if (effect.space == StateSpace::kNone) {
    effect.space = space;
    effect.shared_cluster = is_cluster;
  } else if (effect.source_space == StateSpace::kNone) {
    effect.source_space = space;
    effect.source_shared_cluster = is_cluster;
  }
}

// In whatever order they stand.
void read_modifiers(const Instruction& instruction, Effect& effect) {
  for (const Modifier modifier : instruction.modifiers) {
    const Meaning& meaning = kMeanings[static_cast<std::size_t>(modifier)];
    if (meaning.space != StateSpace::kNone) {
      set_space(meaning.space, modifier == Modifier::kSharedCluster, effect);
    } else if (meaning.type != ScalarType::kNone) {
      effect.type = meaning.type;
    } else if (meaning.elements != 0) {
      effect.elements = meaning.elements;
    }
    effect.order = meaning.order.value_or(effect.order);
    effect.scope = meaning.scope.value_or(effect.scope);
    effect.is_unscoped = effect.is_unscoped && !meaning.scope;
  }
}

bool has_memory(OpcodeClass opcode_class) {
  return opcode_class == kLoad || opcode_class == kStore || opcode_class == kAtomic ||
         opcode_class == kReduction || opcode_class == kMatrixAccess || opcode_class == kMbarrier ||
         opcode_class == kAsyncCopy;
}

void set_barrier(const Instruction& instruction, Effect& effect) {
  const int count = static_cast<int>(instruction.operands.size());
  const bool is_reduction = effect.opcode_class == kBarrier && instruction.has(Modifier::kRed);
  effect.barrier_operand = is_reduction ? 1 : 0;
  // Behind the count of a reduction stands its predicate.
  const bool has_count = is_reduction ? count > 3 : count > 1;
  effect.count_operand = has_count ? effect.barrier_operand + 1 : -1;
}

// cp.async [to], [from], size [, bytes read | predicate to read none] [, cache policy]
bool read_plain_copy(const Instruction& instruction, Effect& effect) {
  const auto& operands = instruction.operands;
  const Operand& size = operands[static_cast<std::size_t>(effect.amount_operand)];
  const std::size_t without_read = instruction.has(Modifier::kL2CacheHint) ? 4 : 3;
  effect.bytes_operand = operands.size() > without_read ? 3 : -1;
  return effect.space == StateSpace::kShared && effect.source_space == StateSpace::kGlobal &&
         size.kind == Operand::Kind::kInteger &&
         (size.bits == 4 || size.bits == 8 || size.bits == 16);
}

// A copy that says from where to where, and of what type what it writes is if it computes.
bool read_copy(const Instruction& instruction, Effect& effect) {
  if (effect.asynchrony == wire::Asynchrony::kThreadGroup) {
    return read_plain_copy(instruction, effect);
  }
  const bool is_bulk = effect.source_operand >= 0;
  const bool has_type = effect.value_operand >= 0 || instruction.has(Modifier::kReduce);
  if (instruction.has(Modifier::kCpMask) && instruction.has(Modifier::kL2CacheHint)) {
    ++effect.mask_operand;  // behind the cache policy
    if (static_cast<std::size_t>(effect.mask_operand) >= instruction.operands.size()) {
      return false;
    }
  }
  return (!is_bulk || effect.source_space != StateSpace::kNone) &&
         (!has_type || size_of(effect.type) != 0);
}

// Boxes whose elements lie elsewhere than their coordinates say.
bool is_known_box(const Instruction& instruction) {
  using enum Modifier;
  return std::ranges::none_of(std::array{kIm2colW, kIm2colW128, kTileGather4, kTileScatter4},
                              [&](Modifier modifier) { return instruction.has(modifier); });
}

// {offsets}, of each dimension of the pixels, before the mask of a multicast.
bool read_offsets(const Instruction& instruction, std::size_t rank, Effect& effect) {
  if (!loads_tensor(effect) || !instruction.has(Modifier::kIm2col)) {
    return true;
  }
  const auto& operands = instruction.operands;
  const int at = effect.mbarrier_operand + 1;
  effect.offsets_operand = static_cast<std::int8_t>(at);
  if (effect.mask_operand >= 0) {
    ++effect.mask_operand;
  }
  const auto index = static_cast<std::size_t>(at);
  return static_cast<std::size_t>(std::max(at, int{effect.mask_operand})) < operands.size() &&
         operands[index].kind == Operand::Kind::kVector && rank > 2 &&
         operands[index].elements.size() == rank - 2;
}

// [map, {coordinates}]
bool read_tensor_copy(const Instruction& instruction, Effect& effect) {
  const auto at = static_cast<std::size_t>(tensor_operand(effect));
  const Operand& tensor = instruction.operands[at];
  const bool is_box = tensor.kind == Operand::Kind::kAddress && tensor.elements.size() == 2 &&
                      tensor.elements[0].kind == Operand::Kind::kRegister &&
                      tensor.elements[1].kind == Operand::Kind::kVector &&
                      !tensor.elements[1].elements.empty() &&
                      tensor.elements[1].elements.size() <= kMaxTensorRank;
  const StateSpace shared = loads_tensor(effect) ? effect.space : effect.source_space;
  return is_box && shared == StateSpace::kShared && is_known_box(instruction) &&
         read_offsets(instruction, tensor.elements[1].elements.size(), effect);
}

bool is_known_product(const Instruction& instruction) {
  return instruction.opcode == Opcode::kTcgen05 ? read_tensor_instruction(instruction).has_value()
                                                : read_warpgroup_product(instruction).has_value();
}

void read_asynchronous(const Instruction& instruction, const Form& form, Effect& effect) {
  const auto count = static_cast<int>(instruction.operands.size());
  const auto operand = [&](int behind) {
    const int at = effect.address_operand + behind;
    return static_cast<std::int8_t>(behind != 0 && at < count ? at : -1);
  };
  effect.source_operand = operand(form.source);
  effect.amount_operand = operand(form.amount);
  effect.bytes_operand = operand(form.bytes);
  effect.mbarrier_operand = operand(form.mbarrier);
  effect.mask_operand = operand(form.mask);
  const bool has_address = form.address == kNoOperand || effect.address_operand >= 0;
  effect.not_covered =
      !has_address || effect.address_operand + form.needed >= count ||
      (form.operation == Operation::kCopy && !read_copy(instruction, effect)) ||
      (form.operation == Operation::kTensorCopy && !read_tensor_copy(instruction, effect)) ||
      (form.operation == Operation::kMatrixProduct && !is_known_product(instruction));
}

void read_class(const Instruction& instruction, const Form& form, Effect& effect) {
  const OpcodeClass c = form.opcode_class;
  if (c == kLoad && instruction.has(Modifier::kNc)) {
    effect.proxy = wire::Proxy::kReadOnly;
  } else if (c == kAtomic) {
    effect.is_cas = instruction.has(Modifier::kCas);
  } else if (c == kMatrixAccess) {
    effect.not_covered = !read_matrix_layout(instruction);
  } else if (c == kFence) {
    effect.is_restricted = instruction.has(Modifier::kMbarrierInit);
  } else if (c == kBarrier || c == kBarrierArrive) {
    set_barrier(instruction, effect);
  } else if (c == kMbarrier || c == kAsyncCopy) {
    read_asynchronous(instruction, form, effect);
  }
}

}  // namespace

std::optional<MemoryOrder> order_of(Modifier modifier) {
  return kMeanings[static_cast<std::size_t>(modifier)].order;
}

std::optional<Scope> scope_of(Modifier modifier) {
  return kMeanings[static_cast<std::size_t>(modifier)].scope;
}

Effect classify(const Instruction& instruction) {
  Effect effect;
  const Form* form = form_of(instruction);
  if (form == nullptr) {
    effect.address_operand = first_address(instruction);
    effect.not_covered = effect.address_operand >= 0;
    return effect;
  }
  effect.opcode_class = form->opcode_class;
  effect.asynchrony = form->asynchrony;
  effect.order = form->order;
  effect.scope = form->scope;
  effect.proxy = form->proxy;
  effect.address_operand =
      form->address == kFirstAddress ? first_address(instruction) : form->address;
  effect.value_operand = int{form->value};
  effect.not_covered = !form->is_covered;
  read_modifiers(instruction, effect);
  if (effect.space == StateSpace::kNone && has_memory(effect.opcode_class)) {
    effect.space = StateSpace::kGeneric;
  }
  if (form->is_covered) {
    read_class(instruction, *form, effect);
  }
  if (!effect.not_covered) {
    effect.operation = form->operation;
  }
  return effect;
}

}  // namespace barracuda::ptx
