#include "ptx/analysis/program.h"

#include <algorithm>

#include "base/strong_id.h"
#include "ptx/parser/cursor.h"
#include "ptx/texel_form.h"

namespace barracuda::ptx {

const Kernel* Program::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

namespace {

bool is_shared_space(StateSpace space) {
  return space == StateSpace::kGlobal || space == StateSpace::kShared ||
         space == StateSpace::kGeneric;
}

}  // namespace

bool reaches(const Program& program, const FunctionFacts& function, std::string_view name) {
  return std::ranges::any_of(function.reachable, [&](std::uint32_t index) {
    return std::ranges::binary_search(program.functions[index].symbols, name);
  });
}

bool calls_nothing_that_logs(const Program& program, std::uint32_t entry) {
  const FunctionFacts& facts = program.functions[entry];
  return !facts.calls_indirectly && std::ranges::all_of(facts.reachable, [&](std::uint32_t index) {
    return index == entry || !program.functions[index].may_log;
  });
}

Expected<wire::SiteId> next_site(const Program& program) {
  const std::uint32_t id =
      index_of(program.options.first_site) + static_cast<std::uint32_t>(program.site_table.size());
  if (id >= wire::kMaxSites) {
    return unexpected(
        {.message = "more instructions are instrumented than records can tell apart"});
  }
  return wire::SiteId{id};
}

Site& site_named(Program& program, wire::SiteId id) {
  return program.site_table[index_of(id) - index_of(program.options.first_site)];
}

std::vector<std::span<PlannedSite>> by_function(std::vector<PlannedSite>& sites) {
  std::vector<std::span<PlannedSite>> functions;
  for (auto begin = sites.begin(); begin != sites.end();) {
    const auto end = std::find_if(begin, sites.end(), [&](const PlannedSite& site) {
      return site.function != begin->function;
    });
    functions.emplace_back(begin, end);
    begin = end;
  }
  return functions;
}

bool has_shared_memory(const Module& module) {
  return declares(module,
                  [](const Variable& variable) { return variable.space == StateSpace::kShared; });
}

Kernel* kernel_of(Program& program, const Function& entry) {
  const auto found = std::ranges::find(program.kernels, entry.name, &Kernel::name);
  return found == program.kernels.end() ? nullptr : &*found;
}

bool is_shared_access(const Effect& effect) {
  const bool accesses =
      effect.opcode_class == OpcodeClass::kLoad || effect.opcode_class == OpcodeClass::kStore ||
      effect.opcode_class == OpcodeClass::kAtomic || effect.opcode_class == OpcodeClass::kReduction;
  return accesses && is_shared_space(effect.space);
}

bool is_matrix_access(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kMatrixAccess && is_shared_space(effect.space);
}

bool is_logged_texture(const Program& program, std::size_t statement) {
  return program.options.is_emulated &&
         program.effects[statement].opcode_class == OpcodeClass::kTexture &&
         read_texel_access(program.module.statements[statement].instruction).refusal.empty();
}

bool is_event(const Effect& effect, bool in_entry) {
  using enum OpcodeClass;
  const OpcodeClass c = effect.opcode_class;
  return c == kFence || c == kBarrier || c == kBarrierArrive || c == kWarpBarrier || c == kExit ||
         (c == kReturn && in_entry);
}

bool is_asynchronous(const Effect& effect) {
  using enum OpcodeClass;
  const OpcodeClass c = effect.opcode_class;
  return effect.operation && (c == kProxyFence || c == kClusterBarrier || c == kGridDependency ||
                              c == kMbarrier || c == kAsyncCopy);
}

bool may_touch_shared(const Effect& effect) {
  const bool is_asynchronous = effect.opcode_class == OpcodeClass::kMbarrier ||
                               effect.opcode_class == OpcodeClass::kAsyncCopy;
  return effect.not_covered || is_shared_access(effect) || is_matrix_access(effect) ||
         (is_asynchronous && effect.address_operand >= 0) ||
         effect.operation == wire::Operation::kMatrixProduct;
}

const Operand* address_of(const Statement& statement, const Effect& effect) {
  const auto& operands = statement.instruction.operands;
  if (effect.address_operand < 0 ||
      static_cast<std::size_t>(effect.address_operand) >= operands.size()) {
    return nullptr;
  }
  const Operand& operand = operands[static_cast<std::size_t>(effect.address_operand)];
  // Behind the address of a tensor map stand the coordinates of a box.
  const bool has_base =
      operand.kind == Operand::Kind::kAddress &&
      (operand.elements.size() == 1 ||
       (operand.elements.size() == 2 && operand.elements[1].kind == Operand::Kind::kVector));
  return has_base || operand.kind == Operand::Kind::kSymbol ? &operand : nullptr;
}

const Operand* callee_of(const Instruction& call) {
  const std::size_t index =
      !call.operands.empty() && call.operands[0].kind == Operand::Kind::kList ? 1 : 0;
  return index < call.operands.size() ? &call.operands[index] : nullptr;
}

const Function* called_function(const Module& module, const Instruction& call) {
  const Operand* const callee = callee_of(call);
  return callee != nullptr && callee->kind == Operand::Kind::kSymbol
             ? module.find_function(callee->name)
             : nullptr;
}

std::optional<wire::Scope> fence_at(const Program& program, std::size_t statement) {
  const Effect& effect = program.effects[statement];
  if (effect.opcode_class == OpcodeClass::kFence && !effect.is_restricted) {
    return effect.scope;
  }
  if (effect.opcode_class != OpcodeClass::kCall) {
    return std::nullopt;
  }
  const Function* const function =
      called_function(program.module, program.module.statements[statement].instruction);
  return function == nullptr
             ? std::nullopt
             : program
                   .functions[static_cast<std::size_t>(function - program.module.functions.data())]
                   .fence_wrapper;
}

std::string name_of(const Instruction& instruction) {
  Cursor cursor(instruction.mnemonic);
  std::string name(cursor.accept_name());
  for (auto word = cursor.accept_dot_word(); !word.empty(); word = cursor.accept_dot_word()) {
    name += '.';
    name += word;
  }
  return name;
}

}  // namespace barracuda::ptx
