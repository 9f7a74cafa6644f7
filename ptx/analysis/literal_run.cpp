#include "ptx/analysis/literal_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ptx/analysis/literal_arithmetic.h"
#include "ptx/analysis/literal_instruction.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kMostInstructions = 1'000'000;  // between two steps
constexpr std::uint32_t kMostElementBytes = 8;

bool is_memory_of_others(StateSpace space) {
  return space == StateSpace::kGlobal || space == StateSpace::kShared;
}

class Run {
 public:
  Run(const LiteralParts& parts, LiteralThread& thread)
      : parts_(parts), thread_(thread), at_(parts, thread) {}

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
        at_.wrong(fmt::format("a thread executes more than {} instructions without an "
                              "access that others see",
                              kMostInstructions)));
  }

  // The destinations of a load or atomic get these, and the thread goes on behind it.
  void take(const std::vector<LiteralValue>& values) {
    const auto& operands = at_.instruction().operands;
    if (at_.effect().opcode_class != OpcodeClass::kReduction) {
      const Operand& to = operands.front();
      const bool is_vector = to.kind == Operand::Kind::kVector;
      const bool is_signed = at_.instruction().has(Modifier::kS8) ||
                             at_.instruction().has(Modifier::kS16) ||
                             at_.instruction().has(Modifier::kS32);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const LiteralValue value{
            .bits = is_signed ? sign_extended(values[i].bits, at_.element_bytes()) : values[i].bits,
            .reads = values[i].reads};
        write(is_vector ? to.elements.at(i) : to, value);
      }
    }
    ++thread_.statement;
  }

 private:
  using MaybeStep = std::optional<LiteralStep>;

  void write(const Operand& destination, const LiteralValue& value) {
    const std::uint32_t number = parts_.registers.of(destination);
    if (number != kNoRegister) {
      const std::uint32_t bytes = parts_.registers.bytes_of(number);
      thread_.registers[number] = {.bits = zero_extended(value.bits, bytes), .reads = value.reads};
    }
  }

  Expected<MaybeStep> execute() {
    const std::uint32_t guard = parts_.registers.guard_of(thread_.statement);
    LiteralValue held{.bits = 1};
    if (!at_.instruction().predicate.empty()) {
      if (guard == kNoRegister) {
        return unexpected(at_.wrong("the predicate is not declared"));
      }
      held = thread_.registers[guard];
      held.bits = (held.bits & 1) ^ (at_.instruction().predicate_negated ? 1U : 0U);
    }
    if (at_.effect().opcode_class == OpcodeClass::kBranch) {
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
    const OpcodeClass what = at_.effect().opcode_class;
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
    return unexpected(what == OpcodeClass::kCall
                          ? at_.wrong("explore does not follow this call: of a function that is "
                                      "not in the PTX, by a pointer, or of itself")
                          : at_.unknown());
  }

  // What is not executed leaves what was there, and that depends on the predicate.
  void skip(std::uint64_t reads) {
    const auto& operands = at_.instruction().operands;
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
            .effect = at_.effect(),
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
    if (at_.instruction().opcode != Opcode::kBra || at_.instruction().operands.empty()) {
      return unexpected(at_.unknown());
    }
    const std::size_t to =
        parts_.labels.find(thread_.statement, at_.instruction().operands.back().name);
    if (to == LabelScopes::kNowhere) {
      return unexpected(at_.wrong("a branch to a label that is not there"));
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
    const bool is_plain = at_.instruction().predicate.empty();
    if (depends || (is_plain && thread_.read_branches > rounds.read_branches)) {
      ++rounds.taken;
    }
    rounds.read_branches = thread_.read_branches;
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
    const auto& operands = at_.instruction().operands;
    if (operands.size() < 2) {
      return unexpected(at_.unknown());
    }
    if (at_.instruction().opcode == Opcode::kMov && (operands[0].kind == Operand::Kind::kVector ||
                                                     operands[1].kind == Operand::Kind::kVector)) {
      return move_parts();
    }
    TRY(const auto values, at_.values_from(1));
    const std::vector<std::uint64_t> bits = bits_of(values);
    const std::uint64_t reads = reads_of(values) | guard_reads_;
    if (at_.instruction().opcode == Opcode::kSetp) {
      return compare(bits, reads);
    }
    const auto result =
        at_.instruction().opcode == Opcode::kCvta       ? at_.converted_address(bits.front())
        : at_.instruction().opcode == Opcode::kIsspacep ? at_.is_of_space(bits.front())
                                                        : literal_result(at_.instruction(), bits);
    if (!result || operands.front().kind != Operand::Kind::kRegister) {
      return unexpected(at_.unknown());
    }
    write(operands.front(), {.bits = *result, .reads = reads});
    ++thread_.statement;
    return MaybeStep();
  }

  Expected<MaybeStep> compare(const std::vector<std::uint64_t>& bits, std::uint64_t reads) {
    const auto held = literal_comparison(at_.instruction(), bits);
    if (!held) {
      return unexpected(at_.unknown());
    }
    const Operand& destination = at_.instruction().operands.front();
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
    const Operand& to = at_.instruction().operands[0];
    const Operand& from = at_.instruction().operands[1];
    const Operand& parts = to.kind == Operand::Kind::kVector ? to : from;
    const std::uint32_t whole = at_.element_bytes();
    if (parts.elements.empty() || whole == 0 || whole > kMostElementBytes ||
        (&parts == &to) == (from.kind == Operand::Kind::kVector)) {
      return unexpected(at_.unknown());
    }
    const auto bytes = static_cast<std::uint32_t>(whole / parts.elements.size());
    LiteralValue all{.reads = guard_reads_};
    if (&parts == &to) {
      TRY(all, at_.value_of(from));
    }
    for (std::size_t i = 0; i < parts.elements.size(); ++i) {
      const std::size_t shift = i * bytes * 8;
      if (&parts == &to) {
        write(parts.elements[i],
              {.bits = zero_extended(all.bits >> shift, bytes), .reads = all.reads | guard_reads_});
        continue;
      }
      TRY(const LiteralValue part, at_.value_of(parts.elements[i]));
      all.bits |= zero_extended(part.bits, bytes) << shift;
      all.reads |= part.reads;
    }
    if (&parts == &from) {
      write(to, all);
    }
    ++thread_.statement;
    return MaybeStep();
  }

  Expected<MaybeStep> access() {
    const auto& operands = at_.instruction().operands;
    const auto at = static_cast<std::size_t>(at_.effect().address_operand);
    if (at_.effect().address_operand < 0 || at >= operands.size() || at_.element_bytes() == 0 ||
        at_.element_bytes() > kMostElementBytes || at_.effect().shared_cluster ||
        at_.effect().asynchrony != wire::Asynchrony::kNone) {
      return unexpected(at_.unknown());
    }
    TRY(const LiteralValue address, at_.value_of(operands[at]));
    const LiteralAddress place = at_.place_of(address.bits);
    LiteralStep made = step(LiteralStep::Kind::kLoad);
    made.is_shared = place.space == StateSpace::kShared;
    made.address = place.offset;
    made.bytes = at_.element_bytes();
    made.depends_on |= address.reads;
    if (at_.effect().opcode_class == OpcodeClass::kLoad) {
      return is_memory_of_others(place.space) ? MaybeStep(made) : load_own(place, made.depends_on);
    }
    TRY(made.values, at_.stored_values());
    if (at_.effect().opcode_class == OpcodeClass::kStore) {
      made.kind = LiteralStep::Kind::kStore;
      return is_memory_of_others(place.space) ? after(made) : store_own(place, made);
    }
    made.kind = LiteralStep::Kind::kAtomic;
    if (!is_memory_of_others(place.space) || at_.effect().elements != 1) {
      return unexpected(at_.unknown());
    }
    return MaybeStep(made);
  }

  Expected<MaybeStep> load_own(const LiteralAddress& place, std::uint64_t depends_on) {
    std::vector<LiteralValue> values;
    for (std::uint32_t i = 0; i < at_.effect().elements; ++i) {
      const std::uint64_t offset = place.offset + std::uint64_t{i} * at_.element_bytes();
      TRY(LiteralValue value, at_.own_value(place.space, offset));
      value.reads |= depends_on & ~thread_.control;
      values.push_back(value);
    }
    take(values);
    return MaybeStep();
  }

  Expected<MaybeStep> store_own(const LiteralAddress& place, const LiteralStep& made) {
    if (place.space != StateSpace::kLocal) {
      return unexpected(at_.unknown());
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
    const bool is_warp = at_.effect().opcode_class == OpcodeClass::kWarpBarrier;
    const int operand = is_warp ? at_.effect().value_operand : at_.effect().barrier_operand;
    if (at_.instruction().has(Modifier::kRed) || operand < 0 ||
        static_cast<std::size_t>(operand) >= at_.instruction().operands.size()) {
      return unexpected(at_.unknown());
    }
    TRY(const LiteralValue number,
        at_.value_of(at_.instruction().operands[static_cast<std::size_t>(operand)]));
    made.number = number.bits;
    if (is_warp) {
      made.kind = LiteralStep::Kind::kWarpBarrier;
      return after(made);
    }
    if (at_.effect().count_operand >= 0) {
      TRY(const LiteralValue count,
          at_.value_of(
              at_.instruction().operands[static_cast<std::size_t>(at_.effect().count_operand)]));
      if (count.bits != parts_.launch.block.volume()) {
        return unexpected(
            at_.wrong("a barrier of some of a block's threads; explore knows those of "
                      "all"));
      }
    }
    return after(made);
  }

  const LiteralParts& parts_;
  LiteralThread& thread_;
  LiteralInstruction at_;
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

std::uint32_t line_of(const LiteralParts& parts, std::size_t statement) {
  for (std::size_t i = statement; i > parts.function.body_begin; --i) {
    const Statement& each = parts.module.statements[i - 1];
    if (each.kind == StatementKind::kLocation) {
      const Location& location = each.location;
      return location.inlined_line != 0 ? location.inlined_line : location.line;
    }
  }
  return parts.module.statements[statement].position.line;
}

Expected<LiteralStep> next_step(const LiteralParts& parts, LiteralThread& thread) {
  return Run(parts, thread).next();
}

void take_values(const LiteralParts& parts, LiteralThread& thread,
                 const std::vector<LiteralValue>& values) {
  Run(parts, thread).take(values);
}

}  // namespace barracuda::ptx
