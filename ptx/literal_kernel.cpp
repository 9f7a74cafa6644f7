#include "ptx/literal_kernel.h"

#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/abi.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/literal_arithmetic.h"
#include "ptx/analysis/literal_places.h"
#include "ptx/analysis/literal_run.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {

Expected<LiteralKernel> LiteralKernel::create(const Module& module, const Function& entry,
                                              LiteralLaunch launch) {
  if (!entry.has_body) {
    return unexpected({.message = fmt::format("'{}' has no body", entry.name)});
  }
  if (parameter_layout(entry).bytes > launch.parameters.size()) {
    return unexpected({.message = "the kernel has more parameters than are given"});
  }
  TRY(LiteralPlaces places, LiteralPlaces::create(module, entry, launch));
  return LiteralKernel(
      std::make_unique<LiteralParts>(module, entry, std::move(launch), std::move(places)));
}

LiteralKernel::LiteralKernel(std::unique_ptr<LiteralParts> parts) : parts_(std::move(parts)) {}

LiteralKernel::LiteralKernel(LiteralKernel&&) noexcept = default;
LiteralKernel& LiteralKernel::operator=(LiteralKernel&&) noexcept = default;
LiteralKernel::~LiteralKernel() = default;

const LiteralLaunch& LiteralKernel::launch() const {
  return parts_->launch;
}

Extent LiteralKernel::cluster() const {
  return parts_->function.bounds.required_cluster.value_or(Extent());
}

std::optional<wire::Scope> LiteralKernel::flag_scope(const LiteralStep& step) const {
  const auto& lines =
      step.kind == LiteralStep::Kind::kStore ? parts_->launch.flag_stores : parts_->launch.polls;
  const auto found = lines.find(parts_->module.statements[step.statement].position.line);
  return found == lines.end() ? std::nullopt : std::optional(found->second);
}

LiteralThread LiteralKernel::start(std::array<std::uint32_t, 3> block,
                                   std::array<std::uint32_t, 3> thread) const {
  LiteralThread made;
  made.block = block;
  made.thread = thread;
  made.statement = parts_->function.body_begin;
  made.registers.resize(parts_->registers.count());
  return made;
}

Expected<LiteralStep> LiteralKernel::next(LiteralThread& thread) const {
  return next_step(*parts_, thread);
}

void LiteralKernel::give(LiteralThread& thread, const LiteralStep& read,
                         const std::vector<LiteralValue>& values) const {
  ASSERT(thread.statement == read.statement);
  take_values(*parts_, thread, values);
}

Expected<LiteralValue> LiteralKernel::updated(const LiteralStep& atomic, std::uint64_t old) const {
  const Statement& statement = parts_->module.statements[atomic.statement];
  std::vector<std::uint64_t> bits;
  LiteralValue made;
  for (const LiteralValue& each : atomic.values) {
    bits.push_back(each.bits);
    made.reads |= each.reads;
  }
  const auto result = literal_update(statement.instruction, old, bits);
  if (!result) {
    return unexpected({.message = fmt::format("explore does not know '{}' in a kernel",
                                              ptx::name_of(statement.instruction)),
                       .line = statement.position.line});
  }
  made.bits = *result;
  return made;
}

bool LiteralKernel::is_used(const LiteralStep& read) const {
  const std::size_t after = read.statement + 1 - parts_->function.body_begin;
  const auto& operands = instruction(read.statement).operands;
  if (read.effect.opcode_class == OpcodeClass::kReduction || operands.empty()) {
    return false;
  }
  bool is_live = false;
  visit_registers(operands.front(), [&](const Operand& each) {
    const std::uint32_t number = parts_->registers.of(each);
    is_live = is_live || (number != kNoRegister && parts_->live.at(after)[number]);
  });
  return is_live;
}

const Instruction& LiteralKernel::instruction(std::size_t statement) const {
  return parts_->module.statements[statement].instruction;
}

std::vector<std::uint64_t> LiteralKernel::live_state(const LiteralThread& thread) const {
  std::vector<std::uint64_t> state = {thread.statement};
  const std::vector<bool>& live = parts_->live.at(thread.statement - parts_->function.body_begin);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) {
      state.push_back(thread.registers[i].bits);
    }
  }
  for (const auto& [offset, byte] : thread.local) {
    state.push_back(offset << 8 | byte.bits);
  }
  return state;
}

std::optional<std::uint64_t> LiteralKernel::initial(bool is_shared, std::uint64_t address,
                                                    std::uint32_t bytes) const {
  const StateSpace space = is_shared ? StateSpace::kShared : StateSpace::kGlobal;
  return parts_->places.initial({.space = space, .offset = address}, bytes);
}

std::string LiteralKernel::name_of(bool is_shared, std::uint64_t address,
                                   std::uint32_t bytes) const {
  const StateSpace space = is_shared ? StateSpace::kShared : StateSpace::kGlobal;
  return parts_->places.name_of({.space = space, .offset = address}, bytes);
}

std::optional<LiteralElement> LiteralKernel::element(std::string_view name,
                                                     std::uint64_t index) const {
  return parts_->places.element(name, index);
}

std::uint32_t LiteralKernel::line_of(std::size_t statement) const {
  return ptx::line_of(*parts_, statement);
}

}  // namespace barracuda::ptx
