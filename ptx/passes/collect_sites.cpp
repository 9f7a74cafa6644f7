#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "device_logger/record.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/plan_asynchronous.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/analysis/source_frames.h"
#include "ptx/analysis/sub_word.h"
#include "ptx/matrix_layout.h"
#include "ptx/passes/passes.h"
#include "ptx/texel_form.h"
#include "ptx/triton_memory.h"

namespace barracuda::ptx::collect_sites {
namespace {

using enum OpcodeClass;

constexpr std::uint32_t kMostTexelBytes = 16;

HookKind strong_hook(OpcodeClass opcode_class) {
  if (opcode_class == kAtomic) {
    return HookKind::kAtomic;
  }
  return opcode_class == kLoad ? HookKind::kAcquire : HookKind::kRelease;
}

// Triton's compiler puts all shared memory into this, and says nothing of it to the program's
// author: where a value is in several threads, all of them store it.
bool is_tritons(const Module& module) {
  return declares(module, [](const Variable& variable) {
    return variable.is_extern && variable.space == StateSpace::kShared &&
           variable.name == kTritonMemory;
  });
}

// Plans the sites of one function.
class FunctionReader {
 public:
  FunctionReader(Program& program, std::uint32_t index, bool is_tritons)
      : program_(program),
        index_(index),
        is_tritons_(is_tritons),
        function_(program.function(index)),
        facts_(program.functions[index]),
        constants_(program.module, function_),
        sub_words_(program, function_) {}

  void read() {
    bool ends = false;  // control does not pass the last instruction
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      const Statement& statement = program_.module.statements[i];
      if (statement.kind == StatementKind::kLabel) {
        ends = false;
      }
      if (statement.kind != StatementKind::kInstruction) {
        continue;
      }
      const OpcodeClass opcode_class = program_.effects[i].opcode_class;
      ends = statement.instruction.predicate.empty() &&
             (opcode_class == kReturn || opcode_class == kExit || opcode_class == kBranch ||
              opcode_class == kTrap);
      read_instruction(i);
    }
    if (function_.is_entry && !ends) {
      add_event(function_.body_end, wire::Operation::kExit);
    }
  }

 private:
  void read_instruction(std::size_t i) {
    const Effect& effect = program_.effects[i];
    if (is_logged_texture(program_, i)) {
      add_texels(i);
    } else if (effect.not_covered) {
      add_not_covered(i, reason_of(program_.module.statements[i].instruction, effect));
    } else if (is_shared_access(effect)) {
      add_access(i);
    } else if (is_matrix_access(effect)) {
      add_matrix_access(i);
    } else if (effect.opcode_class == kCall) {
      add_call(i);
    } else if (is_event(effect, function_.is_entry)) {
      add_event(i, *effect.operation);
    } else if (is_asynchronous(effect)) {
      add_asynchronous(i);
    }
    if (may_cancel_blocks(i)) {
      add_not_covered(i, kBlocksMayGo);
    }
  }

  // A GPU may; the emulated device refuses each request.
  [[nodiscard]] bool may_cancel_blocks(std::size_t i) const {
    return program_.module.statements[i].instruction.opcode == Opcode::kClusterlaunchcontrol &&
           program_.effects[i].operation && !program_.options.is_emulated;
  }

  static constexpr const char* kBlocksMayGo =
      "blocks that do not begin because another takes their work are not known";

  static std::string reason_of(const Instruction& instruction, const Effect& effect) {
    if (instruction.opcode == Opcode::kMultimem) {
      return "what lies at a multicast address on each device is not known";
    }
    if (instruction.opcode == Opcode::kTcgen05) {
      const bool stays_inside = instruction.has(Modifier::kLd) || instruction.has(Modifier::kSt) ||
                                instruction.has(Modifier::kShift);
      return stays_inside ? "what is done to tensor memory is not checked"
                          : "tcgen05 of this form, or of several blocks, is not logged";
    }
    if (instruction.opcode == Opcode::kClusterlaunchcontrol) {
      return instruction.has(Modifier::kMulticastClusterAll)
                 ? "a response that goes to all blocks of a cluster is not logged"
                 : kBlocksMayGo;
    }
    constexpr std::pair<OpcodeClass, const char*> kReasons[] = {
        {kAsyncCopy, "asynchronous operations of this form are not logged"},
        {kMbarrier, "an mbarrier operation whose operands are not understood"},
        {kProxyFence, "fences of this proxy are not logged"},
        {kMatrixAccess, "matrix loads and stores of this form are not logged"},
        {kTexture, "texture and surface accesses are not logged"}};
    const auto* const reason = std::ranges::find(kReasons, effect.opcode_class,
                                                 &std::pair<OpcodeClass, const char*>::first);
    return reason == std::end(kReasons) ? "an instruction whose effect on memory is not known"
                                        : reason->second;
  }

  void add_not_covered(std::size_t i, std::string reason) {
    const Statement& statement = program_.module.statements[i];
    program_.not_covered.push_back({.function = std::string(function_.name),
                                    .instruction = name_of(statement.instruction),
                                    .reason = std::move(reason),
                                    .ptx_line = statement.position.line});
    not_covered_statements.push_back(i);
  }

  void add_access(std::size_t i) {
    const Statement& statement = program_.module.statements[i];
    const Effect& effect = program_.effects[i];
    const std::uint32_t bytes = size_of(effect.type);
    if (address_of(statement, effect) == nullptr || bytes == 0 || bytes * effect.elements > 32) {
      add_not_covered(i, "an access whose address or size is not understood");
      return;
    }
    PlannedSite site{
        .statement = i, .function = index_, .hook = HookKind::kAccess, .effect = effect};
    ASSERT(effect.operation.has_value());
    site.info.operation = *effect.operation;
    site.info.order = effect.order;
    site.info.scope = effect.scope;
    site.info.proxy = effect.proxy;
    site.info.asynchrony = effect.asynchrony;
    const std::uint32_t scalars = scalars_in(effect.type);
    site.info.element_bytes = static_cast<std::uint8_t>(bytes / scalars);
    site.info.element_count = static_cast<std::uint8_t>(effect.elements * scalars);
    if (const auto part = sub_words_.find(i)) {
      site.sub_word = *part;
      site.info.element_bytes = static_cast<std::uint8_t>(part->bytes);
    }
    if (effect.order != wire::MemoryOrder::kWeak && facts_.is_numbered) {
      site.info.numbered = true;
      site.hook = strong_hook(effect.opcode_class);
    }
    find_constants(statement.instruction, site);
    site.info.is_replicated = is_tritons_ && effect.opcode_class == kStore &&
                              effect.space == StateSpace::kShared &&
                              effect.order == wire::MemoryOrder::kWeak;
    program_.sites.push_back(site);
  }

  // How large a texel is the object alone says: one site for each size, and the hook chooses.
  void add_texels(std::size_t i) {
    const TexelAccess access = read_texel_access(program_.module.statements[i].instruction);
    PlannedSite site{.statement = i,
                     .function = index_,
                     .hook = HookKind::kTexels,
                     .effect = program_.effects[i]};
    site.info.operation =
        access.form.use == TexelUse::kStore ? wire::Operation::kWrite : wire::Operation::kRead;
    site.info.proxy = site.effect.proxy;
    site.info.element_count = 1;
    const bool is_of_surface = access.form.is_of_surface();
    const std::uint32_t first = is_of_surface ? access.form.bytes : 1;
    const std::uint32_t last = is_of_surface ? access.form.bytes : kMostTexelBytes;
    for (std::uint32_t bytes = first; bytes <= last; bytes *= 2) {
      site.info.element_bytes = static_cast<std::uint8_t>(bytes);
      program_.sites.push_back(site);
    }
  }

  void add_matrix_access(std::size_t i) {
    const Statement& statement = program_.module.statements[i];
    const Effect& effect = program_.effects[i];
    const auto layout = read_matrix_layout(statement.instruction);
    if (!layout || address_of(statement, effect) == nullptr) {
      add_not_covered(i, "a matrix access whose operands are not understood");
      return;
    }
    PlannedSite site{
        .statement = i, .function = index_, .hook = HookKind::kAccess, .effect = effect};
    ASSERT(effect.operation.has_value());
    site.info.operation = *effect.operation;
    site.info.element_bytes = layout->element_bytes;
    site.info.element_count = layout->element_count;
    program_.sites.push_back(site);
  }

  void add_asynchronous(std::size_t i) {
    const PlannedSite site{.statement = i, .function = index_, .effect = program_.effects[i]};
    if (reads_some(site.effect)) {
      read_registers(i);
    }
    const auto sites = plan_asynchronous(site, program_.module.statements[i], registers_);
    if (sites.empty()) {
      add_not_covered(i, "an asynchronous operation whose operands are not understood");
      return;
    }
    for (const PlannedSite& planned : sites) {
      program_.sites.push_back(planned);
    }
  }

  // Up to the statement: few functions ask for the size of a register here.
  void read_registers(std::size_t i) {
    if (registers_read_ == 0) {
      registers_.enter(function_);
      registers_read_ = function_.body_begin + 1;
    }
    for (; registers_read_ < i; ++registers_read_) {
      registers_.read(program_.module.statements[registers_read_]);
    }
  }

  void find_constants(const Instruction& instruction, PlannedSite& site) const {
    const auto index = static_cast<std::size_t>(site.effect.value_operand);
    if (site.effect.opcode_class != kStore || index >= instruction.operands.size()) {
      return;
    }
    const Operand& value = instruction.operands[index];
    if (value.kind != Operand::Kind::kVector) {
      const auto bits = constants_.value_of(value, site.info.element_bytes);
      site.stores_constants = site.info.stores_constant = bits.has_value();
      site.info.constant = bits.value_or(0);
      return;
    }
    const std::uint32_t bytes = site.info.element_bytes;
    std::array<std::uint64_t, 4> words{};  // the widest vector has 32 bytes
    site.stores_constants = true;
    std::uint32_t at = 0;
    for (const Operand& element : value.elements) {
      const auto bits = constants_.value_of(element, bytes);
      site.stores_constants = site.stores_constants && bits;
      words.at(at / 8) |= bits.value_or(0) << 8 * (at % 8);
      at += bytes;
    }
    site.info.stores_constant = site.stores_constants && at <= 16;
    site.info.constant = site.info.stores_constant ? wire::stored_value(words[0], words[1]) : 0;
  }

  void add_event(std::size_t i, wire::Operation operation) {
    PlannedSite site{.statement = i, .function = index_, .hook = HookKind::kEvent};
    if (i < function_.body_end) {
      site.effect = program_.effects[i];
    }
    site.info.operation = operation;
    if (operation == wire::Operation::kBarrier) {
      const Instruction& instruction = program_.module.statements[i].instruction;
      site.info.aligned = instruction.opcode == Opcode::kBar || instruction.has(Modifier::kAligned);
    }
    if (operation == wire::Operation::kFence) {
      site.info.order = site.effect.order;
      site.info.scope = site.effect.scope;
    }
    program_.sites.push_back(site);
  }

  void add_call(std::size_t i) {
    if (const auto heap = heap_call_at(program_.module, function_, i)) {
      PlannedSite site{.statement = i, .function = index_, .hook = HookKind::kHeap, .heap = *heap};
      site.effect = program_.effects[i];
      site.info.operation = wire::Operation::kHeap;
      program_.sites.push_back(site);
      return;
    }
    const Operand* callee = callee_of(program_.module.statements[i].instruction);
    if (callee == nullptr || !callee_may_log(*callee)) {
      return;
    }
    PlannedSite site{.statement = i, .function = index_, .hook = HookKind::kCall};
    site.effect = program_.effects[i];
    site.info.operation = wire::Operation::kCall;
    program_.sites.push_back(site);
    site.hook = HookKind::kReturn;
    site.info.operation = wire::Operation::kReturn;
    program_.sites.push_back(site);
  }

  [[nodiscard]] bool callee_may_log(const Operand& callee) const {
    if (callee.kind == Operand::Kind::kRegister) {
      return true;
    }
    for (const std::uint32_t index : facts_.callees) {
      if (program_.function(index).name == callee.name) {
        return program_.functions[index].may_log && program_.functions[index].is_instrumented;
      }
    }
    return false;
  }

  Program& program_;
  std::uint32_t index_;
  bool is_tritons_;
  const Function& function_;
  const FunctionFacts& facts_;
  Constants constants_;
  SubWords sub_words_;
  RegisterSizes registers_;
  std::size_t registers_read_ = 0;  // statements before this one

 public:
  std::vector<std::size_t> not_covered_statements;
};

}  // namespace

Expected<void> run(Program& program) {
  SourceFrames frames(program.module);
  const bool is_from_triton = is_tritons(program.module);
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (!program.function(i).has_body || !program.functions[i].is_instrumented) {
      continue;
    }
    const std::size_t first = program.not_covered.size();
    FunctionReader reader(program, i, is_from_triton);
    reader.read();
    frames.enter(program.function(i));
    for (std::size_t n = 0; n < reader.not_covered_statements.size(); ++n) {
      const auto chain = frames.at(reader.not_covered_statements[n]);
      program.not_covered[first + n].where = chain.empty() ? SourceFrame{} : chain.front();
    }
  }
  return {};
}

}  // namespace barracuda::ptx::collect_sites
