#include "weak_memory/memory_model/straight_line.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;
using Value = std::optional<std::uint64_t>;  // none: not known yet

class Evaluation {
 public:
  Evaluation(const Program& program, const std::vector<std::size_t>& source,
             const std::vector<Event>& events)
      : program_(program), source_(source), values_(events.size()) {
    while (next_ < events.size() && events[next_].kind == Event::Kind::kInitial) {
      values_[next_] = events[next_].value;
      ++next_;
    }
    initial_ = next_;
  }

  // Each round knows the values that depend on one more read.
  void run() {
    std::vector<Value> before;
    do {
      before = values_;
      registers.clear();
      next_ = initial_;
      for (const Thread& thread : program_.threads) {
        execute(thread);
      }
    } while (values_ != before);
  }

  [[nodiscard]] std::uint64_t value(std::size_t event) const {
    ASSERT(values_[event].has_value());
    return *values_[event];
  }

  std::vector<Value> registers;

 private:
  void execute(const Thread& thread) {
    std::vector<Value> own(thread.initial.begin(), thread.initial.end());
    own.resize(thread.registers, 0);
    for (const Instruction& each : thread.instructions) {
      execute(each, own);
    }
    registers.insert(registers.end(), own.begin(), own.end());
  }

  void execute(const Instruction& each, std::vector<Value>& own) {
    const auto held = [&](const Operand& operand) {
      return operand.read ? own[*operand.read] : Value(operand.constant);
    };
    const Value given = held(each.value);
    if (each.kind == Kind::kCompute) {
      own[*each.target] = result(each.operation, given, held(each.second));
      return;
    }
    if (each.reads()) {
      const Value old = values_[source_[next_]];
      values_[next_++] = old;
      if (each.updates()) {
        values_[next_++] = result(each.operation, old, given);
      }
      if (each.target) {
        own[*each.target] = old;
      }
      return;
    }
    values_[next_++] = each.writes() ? given : Value(0);
  }

  static Value result(Operation operation, const Value& left, const Value& right) {
    if (operation == Operation::kMove) {
      return right;
    }
    return left && right ? Value(compute(operation, *left, *right)) : Value();
  }

  const Program& program_;
  const std::vector<std::size_t>& source_;
  std::vector<Value> values_;  // by event
  std::size_t initial_ = 0, next_ = 0;
};

}  // namespace

bool is_straight_line(const Program& program) {
  return std::ranges::all_of(program.threads, [](const Thread& thread) {
    return std::ranges::all_of(thread.instructions, [](const Instruction& each) {
      return each.kind != Kind::kJump && each.kind != Kind::kCompareExchange &&
             (!each.number || !each.number->read) && (!each.quorum || !each.quorum->read);
    });
  });
}

Outcome evaluate(const Program& program, const std::vector<std::size_t>& source,
                 std::vector<Event>& events) {
  Evaluation evaluation(program, source, events);
  evaluation.run();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].accesses()) {
      events[i].value = evaluation.value(i);
    }
  }
  Outcome registers;
  for (const Value& value : evaluation.registers) {
    ASSERT(value.has_value());
    registers.push_back(*value);
  }
  return registers;
}

}  // namespace barracuda::memory_model
