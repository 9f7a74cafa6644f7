#include "ptx/analysis/literal_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ptx/analysis/literal_arithmetic.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kMostInstructions = 1'000'000;  // between two steps
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMostElementBytes = 8;

std::uint32_t component(std::string_view name) {
  return name == "y" ? 1 : name == "z" ? 2 : 0;
}

std::uint32_t axis(const Extent& extent, std::uint32_t number) {
  return number == 0 ? extent.x : number == 1 ? extent.y : extent.z;
}

std::uint32_t lane_of(const LiteralThread& thread, const Extent& block) {
  return ((thread.thread[2] * block.y + thread.thread[1]) * block.x + thread.thread[0]) % kWarp;
}

std::uint32_t warp_of(const LiteralThread& thread, const Extent& block) {
  return ((thread.thread[2] * block.y + thread.thread[1]) * block.x + thread.thread[0]) / kWarp;
}

bool is_memory_of_others(StateSpace space) {
  return space == StateSpace::kGlobal || space == StateSpace::kShared;
}

class Run {
 public:
  Run(const LiteralParts& parts, LiteralThread& thread) : parts_(parts), thread_(thread) {}

  Expected<LiteralStep> next() {
    for (std::uint32_t done = 0; done < kMostInstructions; ++done) {
      if (thread_.statement >= parts_.function.body_end) {
        return LiteralStep{.statement = parts_.function.body_end};
      }
      if (parts_.module.statements[thread_.statement].kind != StatementKind::kInstruction) {
        ++thread_.statement;
        continue;
      }
      TRY(auto step, execute());
      if (step) {
        return *std::move(step);
      }
    }
    return unexpected(
        wrong(fmt::format("a thread executes more than {} instructions without an "
                          "access that others see",
                          kMostInstructions)));
  }

  void write(const Operand& destination, const LiteralValue& value) {
    const std::uint32_t number = parts_.registers.of(destination);
    if (number != kNoRegister) {
      const std::uint32_t bytes = parts_.registers.bytes_of(number);
      thread_.registers[number] = {.bits = zero_extended(value.bits, bytes), .reads = value.reads};
    }
  }

 private:
  using MaybeStep = std::optional<LiteralStep>;

  [[nodiscard]] const Instruction& instruction() const {
    return parts_.module.statements[thread_.statement].instruction;
  }

  [[nodiscard]] const Effect& effect() const {
    return parts_.effects[thread_.statement - parts_.function.body_begin];
  }

  [[nodiscard]] Diagnostic wrong(const std::string& message) const {
    const std::size_t last = parts_.module.statements.size() - 1;
    return {.message = message,
            .line = parts_.module.statements[std::min(thread_.statement, last)].position.line};
  }

  [[nodiscard]] Diagnostic unknown() const {
    return wrong(
        fmt::format("explore does not know '{}' in a kernel", ptx::name_of(instruction())));
  }

  Expected<MaybeStep> execute() {
    const std::uint32_t guard = parts_.registers.guard_of(thread_.statement);
    LiteralValue held{.bits = 1};
    if (!instruction().predicate.empty()) {
      if (guard == kNoRegister) {
        return unexpected(wrong("the predicate is not declared"));
      }
      held = thread_.registers[guard];
      held.bits = (held.bits & 1) ^ (instruction().predicate_negated ? 1U : 0U);
    }
    if (effect().opcode_class == OpcodeClass::kBranch) {
      return branch(held);
    }
    if (held.bits == 0) {
      skip(held.reads);
      return MaybeStep();
    }
    guard_reads_ = held.reads;
    return execute_held();
  }

  Expected<MaybeStep> execute_held() {
    const OpcodeClass what = effect().opcode_class;
    if (what == OpcodeClass::kArithmetic) {
      return compute();
    }
    if (what == OpcodeClass::kLoad || what == OpcodeClass::kStore || what == OpcodeClass::kAtomic ||
        what == OpcodeClass::kReduction) {
      return access();
    }
    if (what == OpcodeClass::kFence) {
      return after(step(LiteralStep::Kind::kFence));
    }
    if (what == OpcodeClass::kBarrier || what == OpcodeClass::kWarpBarrier) {
      return barrier();
    }
    if (what == OpcodeClass::kReturn || what == OpcodeClass::kExit) {
      return MaybeStep(step(LiteralStep::Kind::kEnd));
    }
    if (what == OpcodeClass::kNoEffect) {
      ++thread_.statement;
      return MaybeStep();
    }
    return unexpected(unknown());
  }

  // What is not executed leaves what was there, and that depends on the predicate.
  void skip(std::uint64_t reads) {
    const auto& operands = instruction().operands;
    if (!operands.empty() && reads != 0) {
      add_reads(operands.front(), reads);
    }
    ++thread_.statement;
  }

  void add_reads(const Operand& operand, std::uint64_t reads) {
    if (const std::uint32_t number = parts_.registers.of(operand); number != kNoRegister) {
      thread_.registers[number].reads |= reads;
    }
    for (const Operand& element : operand.elements) {
      add_reads(element, reads);
    }
  }

  [[nodiscard]] LiteralStep step(LiteralStep::Kind kind) const {
    return {.kind = kind,
            .statement = thread_.statement,
            .effect = effect(),
            .depends_on = thread_.control | guard_reads_};
  }

  MaybeStep after(LiteralStep step) {
    ++thread_.statement;
    return step;
  }

  Expected<MaybeStep> branch(const LiteralValue& held) {
    thread_.control |= held.reads;
    thread_.read_branches += held.reads != 0 ? 1 : 0;
    if (held.bits == 0) {
      ++thread_.statement;
      return MaybeStep();
    }
    if (instruction().opcode != Opcode::kBra || instruction().operands.empty()) {
      return unexpected(unknown());
    }
    const std::size_t to =
        parts_.labels.find(thread_.statement, instruction().operands.back().name);
    if (to == LabelScopes::kNowhere) {
      return unexpected(wrong("a branch to a label that is not there"));
    }
    count_round(to, held.reads != 0);
    thread_.statement = to;
    return MaybeStep();
  }

  // Where the branch has no predicate, those before it in the loop may have read.
  void count_round(std::size_t to, bool depends) {
    if (to > thread_.statement) {
      return;
    }
    LiteralThread::Rounds& rounds = thread_.rounds[thread_.statement];
    const bool is_plain = instruction().predicate.empty();
    if (depends || (is_plain && thread_.read_branches > rounds.read_branches)) {
      ++rounds.taken;
    }
    rounds.read_branches = thread_.read_branches;
  }

  Expected<std::uint64_t> special(const Operand& operand) const {
    const Extent& block = parts_.launch.block;
    const std::uint32_t number = component(operand.component);
    const std::uint32_t lane = lane_of(thread_, block);
    const std::array<std::pair<std::string_view, std::uint64_t>, 12> known = {
        {{"%tid", thread_.thread.at(number)},
         {"%ntid", axis(block, number)},
         {"%ctaid", thread_.block.at(number)},
         {"%nctaid", axis(parts_.launch.grid, number)},
         {"%laneid", lane},
         {"%warpid", warp_of(thread_, block)},
         {"%nwarpid", (block.volume() + kWarp - 1) / kWarp},
         {"%lanemask_eq", std::uint64_t{1} << lane},
         {"%lanemask_lt", (std::uint64_t{1} << lane) - 1},
         {"%lanemask_le", (std::uint64_t{2} << lane) - 1},
         {"%lanemask_gt", 0xffffffffU & ~((std::uint64_t{2} << lane) - 1)},
         {"%lanemask_ge", 0xffffffffU & ~((std::uint64_t{1} << lane) - 1)}}};
    const auto found =
        std::ranges::find(known, operand.name, &std::pair<std::string_view, std::uint64_t>::first);
    if (found == known.end()) {
      return unexpected(wrong(
          fmt::format("what {} holds is not the same in each execution; explore does not know it",
                      operand.name)));
    }
    return found->second;
  }

  Expected<LiteralValue> value_of(const Operand& operand) const {
    using Kind = Operand::Kind;
    if (operand.kind == Kind::kRegister) {
      return held_in(operand);
    }
    if (operand.kind == Kind::kSpecial) {
      TRY(const std::uint64_t bits, special(operand));
      return LiteralValue{.bits = bits};
    }
    if (operand.kind == Kind::kInteger || operand.kind == Kind::kFloat) {
      return LiteralValue{.bits = operand.bits};
    }
    if (operand.kind == Kind::kAddress && operand.elements.size() == 1) {
      TRY(LiteralValue base, value_of(operand.elements.front()));
      base.bits += static_cast<std::uint64_t>(operand.offset);
      return base;
    }
    if (operand.kind == Kind::kSymbol && operand.elements.empty()) {
      if (const auto address = parts_.places.address_of(operand.name)) {
        return LiteralValue{.bits = *address + static_cast<std::uint64_t>(operand.offset)};
      }
    }
    return unexpected(wrong(fmt::format("explore does not know the operand '{}'", operand.text)));
  }

  Expected<LiteralValue> held_in(const Operand& operand) const {
    const std::uint32_t number = parts_.registers.of(operand);
    if (number == kNoRegister || !operand.component.empty()) {
      return unexpected(wrong(fmt::format("the register {} is not known", operand.text)));
    }
    LiteralValue value = thread_.registers[number];
    if (operand.negated) {
      value.bits = parts_.registers.bytes_of(number) == 1 ? value.bits ^ 1 : ~value.bits + 1;
    }
    return value;
  }

  Expected<std::vector<LiteralValue>> values_of(std::size_t first) const {
    std::vector<LiteralValue> values;
    for (std::size_t i = first; i < instruction().operands.size(); ++i) {
      TRY(const LiteralValue value, value_of(instruction().operands[i]));
      values.push_back(value);
    }
    return values;
  }

  static std::uint64_t reads_of(const std::vector<LiteralValue>& values) {
    std::uint64_t reads = 0;
    for (const LiteralValue& each : values) {
      reads |= each.reads;
    }
    return reads;
  }

  static std::vector<std::uint64_t> bits_of(const std::vector<LiteralValue>& values) {
    std::vector<std::uint64_t> bits(values.size());
    std::ranges::transform(values, bits.begin(), &LiteralValue::bits);
    return bits;
  }

  Expected<MaybeStep> compute() {
    const auto& operands = instruction().operands;
    if (operands.size() < 2) {
      return unexpected(unknown());
    }
    if (instruction().opcode == Opcode::kMov && (operands[0].kind == Operand::Kind::kVector ||
                                                 operands[1].kind == Operand::Kind::kVector)) {
      return move_parts();
    }
    TRY(const auto values, values_of(1));
    const std::vector<std::uint64_t> bits = bits_of(values);
    const std::uint64_t reads = reads_of(values) | guard_reads_;
    if (instruction().opcode == Opcode::kSetp) {
      return compare(bits, reads);
    }
    const auto result = instruction().opcode == Opcode::kCvta ? converted_address(bits.front())
                        : instruction().opcode == Opcode::kIsspacep
                            ? is_of_space(bits.front())
                            : literal_result(instruction(), bits);
    if (!result || operands.front().kind != Operand::Kind::kRegister) {
      return unexpected(unknown());
    }
    write(operands.front(), {.bits = *result, .reads = reads});
    ++thread_.statement;
    return MaybeStep();
  }

  Expected<MaybeStep> compare(const std::vector<std::uint64_t>& bits, std::uint64_t reads) {
    const auto held = literal_comparison(instruction(), bits);
    if (!held) {
      return unexpected(unknown());
    }
    const Operand& destination = instruction().operands.front();
    const bool is_pair = destination.kind == Operand::Kind::kPair;
    write(is_pair ? destination.elements[0] : destination,
          {.bits = held->first ? 1U : 0U, .reads = reads});
    if (is_pair) {
      write(destination.elements[1], {.bits = held->second ? 1U : 0U, .reads = reads});
    }
    ++thread_.statement;
    return MaybeStep();
  }

  // mov.b64 d, {a, b} and mov.b64 {a, b}, d.
  Expected<MaybeStep> move_parts() {
    const Operand& to = instruction().operands[0];
    const Operand& from = instruction().operands[1];
    const Operand& parts = to.kind == Operand::Kind::kVector ? to : from;
    const std::uint32_t whole = effect_bytes();
    if (parts.elements.empty() || whole == 0 || whole > kMostElementBytes ||
        (&parts == &to) == (from.kind == Operand::Kind::kVector)) {
      return unexpected(unknown());
    }
    const auto bytes = static_cast<std::uint32_t>(whole / parts.elements.size());
    LiteralValue all{.reads = guard_reads_};
    if (&parts == &to) {
      TRY(all, value_of(from));
    }
    for (std::size_t i = 0; i < parts.elements.size(); ++i) {
      const std::size_t shift = i * bytes * 8;
      if (&parts == &to) {
        write(parts.elements[i],
              {.bits = zero_extended(all.bits >> shift, bytes), .reads = all.reads | guard_reads_});
        continue;
      }
      TRY(const LiteralValue part, value_of(parts.elements[i]));
      all.bits |= zero_extended(part.bits, bytes) << shift;
      all.reads |= part.reads;
    }
    if (&parts == &from) {
      write(to, all);
    }
    ++thread_.statement;
    return MaybeStep();
  }

  [[nodiscard]] std::uint32_t effect_bytes() const { return size_of(effect().type); }

  [[nodiscard]] StateSpace named_space() const {
    return instruction().has(Modifier::kShared) || instruction().has(Modifier::kSharedCta)
               ? StateSpace::kShared
           : instruction().has(Modifier::kLocal) ? StateSpace::kLocal
           : instruction().has(Modifier::kGlobal) || instruction().has(Modifier::kConst)
               ? StateSpace::kGlobal
               : StateSpace::kNone;
  }

  [[nodiscard]] std::optional<std::uint64_t> converted_address(std::uint64_t address) const {
    const StateSpace space = named_space();
    if (space == StateSpace::kNone) {
      return std::nullopt;
    }
    return instruction().has(Modifier::kTo) ? LiteralPlaces::offset_in(space, address)
                                            : LiteralPlaces::generic_of(space, address);
  }

  [[nodiscard]] std::optional<std::uint64_t> is_of_space(std::uint64_t address) const {
    const StateSpace space = named_space();
    if (space == StateSpace::kNone) {
      return std::nullopt;
    }
    return LiteralPlaces::resolve(address).space == space ? 1 : 0;
  }

  [[nodiscard]] LiteralAddress place_of(std::uint64_t address) const {
    const StateSpace space = effect().space;
    if (space == StateSpace::kShared) {
      return {.space = space, .offset = zero_extended(address, 4)};
    }
    if (space == StateSpace::kLocal || space == StateSpace::kConst) {
      return {.space = space, .offset = address};
    }
    return LiteralPlaces::resolve(address);
  }

  Expected<MaybeStep> access() {
    const auto& operands = instruction().operands;
    if (effect().space == StateSpace::kParam && effect().opcode_class == OpcodeClass::kStore) {
      return unexpected(
          wrong("explore does not follow calls of functions: build with optimisation, "
                "so that they are inlined"));
    }
    const auto at = static_cast<std::size_t>(effect().address_operand);
    if (effect().address_operand < 0 || at >= operands.size() || effect_bytes() == 0 ||
        effect_bytes() > kMostElementBytes || effect().shared_cluster) {
      return unexpected(unknown());
    }
    TRY(const LiteralValue address, value_of(operands[at]));
    const LiteralAddress place = place_of(address.bits);
    LiteralStep made = step(LiteralStep::Kind::kLoad);
    made.is_shared = place.space == StateSpace::kShared;
    made.address = place.offset;
    made.bytes = effect_bytes();
    made.depends_on |= address.reads;
    if (effect().opcode_class == OpcodeClass::kLoad) {
      return is_memory_of_others(place.space) ? MaybeStep(made) : load_own(place, made.depends_on);
    }
    TRY(made.values, stored_values());
    if (effect().opcode_class == OpcodeClass::kStore) {
      made.kind = LiteralStep::Kind::kStore;
      return is_memory_of_others(place.space) ? after(made) : store_own(place, made);
    }
    made.kind = LiteralStep::Kind::kAtomic;
    if (!is_memory_of_others(place.space) || effect().elements != 1) {
      return unexpected(unknown());
    }
    return MaybeStep(made);
  }

  // Registers are known by where their operand stands, so operands are never copied.
  Expected<std::vector<LiteralValue>> stored_values() const {
    const auto& operands = instruction().operands;
    std::vector<LiteralValue> values;
    for (auto i = static_cast<std::size_t>(effect().value_operand); i < operands.size(); ++i) {
      const bool is_vector = operands[i].kind == Operand::Kind::kVector;
      for (std::size_t part = 0; part < (is_vector ? operands[i].elements.size() : 1); ++part) {
        TRY(const LiteralValue value,
            value_of(is_vector ? operands[i].elements[part] : operands[i]));
        values.push_back({.bits = zero_extended(value.bits, effect_bytes()), .reads = value.reads});
      }
    }
    return values;
  }

  Expected<MaybeStep> load_own(const LiteralAddress& place, std::uint64_t depends_on) {
    std::vector<LiteralValue> values;
    for (std::uint32_t i = 0; i < effect().elements; ++i) {
      const std::uint64_t offset = place.offset + std::uint64_t{i} * effect_bytes();
      TRY(LiteralValue value, own_value(place.space, offset));
      value.reads |= depends_on & ~thread_.control;
      values.push_back(value);
    }
    take(values);
    return MaybeStep();
  }

  Expected<LiteralValue> own_value(StateSpace space, std::uint64_t offset) const {
    LiteralValue value;
    if (space == StateSpace::kParam) {
      if (offset + effect_bytes() > parts_.launch.parameters.size()) {
        return unexpected(wrong("a read behind the parameters of the kernel"));
      }
      std::memcpy(&value.bits, parts_.launch.parameters.data() + offset, effect_bytes());
      return value;
    }
    if (space == StateSpace::kConst) {
      const auto initial =
          parts_.places.initial({.space = space, .offset = offset}, effect_bytes());
      if (!initial) {
        return unexpected(wrong("a read of constant memory that is not there"));
      }
      value.bits = *initial;
      return value;
    }
    for (std::uint32_t i = 0; i < effect_bytes(); ++i) {
      if (const auto found = thread_.local.find(offset + i); found != thread_.local.end()) {
        value.bits |= found->second.bits << (8 * i);
        value.reads |= found->second.reads;
      }
    }
    return value;
  }

  Expected<MaybeStep> store_own(const LiteralAddress& place, const LiteralStep& made) {
    if (place.space != StateSpace::kLocal) {
      return unexpected(unknown());
    }
    std::uint64_t offset = place.offset;
    for (const LiteralValue& value : made.values) {
      for (std::uint32_t i = 0; i < made.bytes; ++i) {
        thread_.local[offset++] = {.bits = (value.bits >> (8 * i)) & 0xff,
                                   .reads = value.reads | made.depends_on};
      }
    }
    ++thread_.statement;
    return MaybeStep();
  }

  Expected<MaybeStep> barrier() {
    LiteralStep made = step(LiteralStep::Kind::kBarrier);
    const bool is_warp = effect().opcode_class == OpcodeClass::kWarpBarrier;
    const int operand = is_warp ? effect().value_operand : effect().barrier_operand;
    if (instruction().has(Modifier::kRed) || operand < 0 ||
        static_cast<std::size_t>(operand) >= instruction().operands.size()) {
      return unexpected(unknown());
    }
    TRY(const LiteralValue number,
        value_of(instruction().operands[static_cast<std::size_t>(operand)]));
    made.number = number.bits;
    if (is_warp) {
      made.kind = LiteralStep::Kind::kWarpBarrier;
      return after(made);
    }
    if (effect().count_operand >= 0) {
      TRY(const LiteralValue count,
          value_of(instruction().operands[static_cast<std::size_t>(effect().count_operand)]));
      if (count.bits != parts_.launch.block.volume()) {
        return unexpected(
            wrong("a barrier of some of a block's threads; explore knows those of "
                  "all"));
      }
    }
    return after(made);
  }

 public:
  // The destinations of a load or atomic get these, and the thread goes on behind it.
  void take(const std::vector<LiteralValue>& values) {
    const auto& operands = instruction().operands;
    if (effect().opcode_class != OpcodeClass::kReduction) {
      const Operand& to = operands.front();
      const bool is_vector = to.kind == Operand::Kind::kVector;
      const bool is_signed = instruction().has(Modifier::kS8) ||
                             instruction().has(Modifier::kS16) || instruction().has(Modifier::kS32);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const LiteralValue value{
            .bits = is_signed ? sign_extended(values[i].bits, effect_bytes()) : values[i].bits,
            .reads = values[i].reads};
        write(is_vector ? to.elements.at(i) : to, value);
      }
    }
    ++thread_.statement;
  }

 private:
  const LiteralParts& parts_;
  LiteralThread& thread_;
  std::uint64_t guard_reads_ = 0;
};

}  // namespace

LiteralParts::LiteralParts(const Module& module_given, const Function& entry,
                           LiteralLaunch launch_given, LiteralPlaces places_given)
    : module(module_given),
      function(entry),
      launch(std::move(launch_given)),
      places(std::move(places_given)),
      registers(module_given, entry),
      labels(module_given, entry),
      live(live_registers(module_given, entry, registers)) {
  for (std::size_t i = entry.body_begin; i <= entry.body_end; ++i) {
    const Statement& each = module.statements[i];
    effects.push_back(each.kind == StatementKind::kInstruction ? classify(each.instruction)
                                                               : Effect());
  }
}

Expected<LiteralStep> next_step(const LiteralParts& parts, LiteralThread& thread) {
  return Run(parts, thread).next();
}

void take_values(const LiteralParts& parts, LiteralThread& thread,
                 const std::vector<LiteralValue>& values) {
  Run(parts, thread).take(values);
}

}  // namespace barracuda::ptx
