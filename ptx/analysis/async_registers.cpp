#include "ptx/analysis/async_registers.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/control_flow.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::ptx {
namespace {

using Kind = RegisterHazard::Kind;
using wire::Operation;

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::uint32_t kMostGroups = 64;  // behind so many, one is as good as another

// What is known of a register on some way to a place.
struct RegisterState {
  std::size_t product = kNone;  // that is under way and uses it
  std::uint32_t groups = 0;     // that the thread has ended since, the product's own among them
  bool is_sum = false;          // the product writes it
  bool is_copy = false;         // of what that product uses: a write touches nothing under way
  std::size_t written = kNone;  // since the last wgmma.fence
  bool is_computed = false;     // what was written

  friend bool operator==(const RegisterState&, const RegisterState&) = default;
};

struct State {
  std::vector<RegisterState> registers;
  bool is_fenced = true;  // a wgmma.fence lies on each way here, behind the last wait
  bool is_reached = false;
};

// The newer of two products under way; any write, one that is not computed first.
void join(RegisterState& into, const RegisterState& from) {
  const auto age = [](const RegisterState& state) {
    return std::tuple(state.product == kNone, state.groups, state.product);
  };
  if (age(from) < age(into)) {
    into.product = from.product;
    into.groups = from.groups;
    into.is_sum = from.is_sum;
  }
  into.is_copy = into.is_copy || from.is_copy;
  const auto weight = [](const RegisterState& state) {
    return std::tuple(state.written == kNone, state.is_computed, state.written);
  };
  if (weight(from) < weight(into)) {
    into.written = from.written;
    into.is_computed = from.is_computed;
  }
}

// True: it has changed.
bool join(State& into, const State& from) {
  if (!into.is_reached) {
    into = from;
    return true;
  }
  bool is_changed = into.is_fenced && !from.is_fenced;
  into.is_fenced = into.is_fenced && from.is_fenced;
  for (std::size_t i = 0; i < into.registers.size(); ++i) {
    const RegisterState before = into.registers[i];
    join(into.registers[i], from.registers[i]);
    is_changed = is_changed || into.registers[i] != before;
  }
  return is_changed;
}

bool is_move(const Instruction& instruction) {
  return instruction.opcode == Opcode::kMov && instruction.predicate.empty() &&
         instruction.operands.size() == 2 &&
         instruction.operands[0].kind == Operand::Kind::kRegister &&
         instruction.operands[1].kind == Operand::Kind::kRegister;
}

bool is_product(const Effect& effect) {
  return effect.operation == Operation::kMatrixProduct &&
         effect.asynchrony == wire::Asynchrony::kMatrixGroup;
}

bool is_of_products(const Effect& effect, Operation operation) {
  return effect.asynchrony == wire::Asynchrony::kMatrixGroup && effect.operation == operation;
}

class Walk {
 public:
  Walk(const Program& program, const Function& function, const ControlFlow& flow)
      : program_(program), function_(function), flow_(flow) {
    number_registers();
  }

  std::vector<FoundHazard> run() {
    if (!solve()) {
      return {};
    }
    is_reporting_ = true;
    for (std::size_t block = 0; block < flow_.blocks.size(); ++block) {
      if (before_[block].is_reached) {
        State state = before_[block];
        pass(flow_.blocks[block], state);
      }
    }
    std::ranges::stable_sort(found_, {}, &FoundHazard::touch);
    return kept();
  }

 private:
  [[nodiscard]] const Statement& statement(std::size_t i) const {
    return program_.module.statements[i];
  }

  // Those of products, and what is moved to or from them.
  void number_registers() {
    std::vector<const Instruction*> moves;
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (statement(i).kind != StatementKind::kInstruction) {
        continue;
      }
      const Instruction& instruction = statement(i).instruction;
      if (is_product(program_.effects[i])) {
        add(instruction.operands[kProductSums]);
        if (instruction.operands[kProductA].kind == Operand::Kind::kVector) {
          add(instruction.operands[kProductA]);
        }
      } else if (is_move(instruction)) {
        moves.push_back(&instruction);
      }
    }
    for (bool is_new = true; is_new;) {
      const std::size_t before = numbers_.size();
      for (const Instruction* const move : moves) {
        if (numbers_.contains(move->operands[0].name) ||
            numbers_.contains(move->operands[1].name)) {
          add(move->operands[0]);
          add(move->operands[1]);
        }
      }
      is_new = numbers_.size() != before;
    }
  }

  void add(const Operand& operand) {
    visit_registers(operand, [&](const Operand& named) {
      numbers_.emplace(named.name, static_cast<std::uint32_t>(numbers_.size()));
    });
  }

  // The states before each block. False: they come to no end.
  bool solve() {
    constexpr std::size_t kMostVisits = 64;  // of each block
    const std::size_t blocks = flow_.blocks.size();
    before_.assign(blocks, {});
    before_[0] = {.registers = std::vector<RegisterState>(numbers_.size()),
                  .is_fenced = false,
                  .is_reached = true};
    std::deque<std::uint32_t> waiting{0};
    std::vector<bool> waits(blocks);
    std::size_t visits = 0;
    while (!waiting.empty()) {
      if (++visits > kMostVisits * blocks) {
        return false;
      }
      const std::uint32_t block = waiting.front();
      waiting.pop_front();
      waits[block] = false;
      State state = before_[block];
      pass(flow_.blocks[block], state);
      for (const std::uint32_t next : flow_.blocks[block].successors) {
        if (join(before_[next], state) && !waits[next]) {
          waits[next] = true;
          waiting.push_back(next);
        }
      }
    }
    return true;
  }

  void pass(const BasicBlock& block, State& state) {
    for (std::size_t i = block.begin; i < block.end; ++i) {
      if (statement(i).kind == StatementKind::kInstruction) {
        pass(i, state);
      }
    }
  }

  void pass(std::size_t i, State& state) {
    const Instruction& instruction = statement(i).instruction;
    const Effect& effect = program_.effects[i];
    if (is_product(effect)) {
      issue(i, instruction, state);
    } else if (is_of_products(effect, Operation::kAsyncCommit)) {
      for (RegisterState& each : state.registers) {
        each.groups = each.product == kNone ? 0 : std::min(each.groups + 1, kMostGroups);
      }
    } else if (is_of_products(effect, Operation::kAsyncWait)) {
      wait(instruction, state);
    } else if (instruction.opcode == Opcode::kWgmma && instruction.has(Modifier::kFence)) {
      state.is_fenced = true;
      for (RegisterState& each : state.registers) {
        each.written = kNone;
      }
    } else if (is_move(instruction)) {
      move(i, instruction, state);
    } else {
      touch(i, instruction, effect, state);
    }
  }

  // Groups that may be left are the newest; one that has not been ended is in none.
  static void wait(const Instruction& instruction, State& state) {
    state.is_fenced = false;
    const std::uint64_t left = instruction.operands.front().bits;
    for (RegisterState& each : state.registers) {
      if (each.product != kNone && each.groups > left) {
        each.product = kNone;
        each.groups = 0;
      }
    }
  }

  void issue(std::size_t i, const Instruction& instruction, State& state) {
    const Operand& sums = instruction.operands[kProductSums];
    const Operand& a = instruction.operands[kProductA];
    const bool has_registers = a.kind == Operand::Kind::kVector;
    const auto check = [&](const Operand& operand, bool is_sum) {
      visit(operand, state, [&](const Operand& named, RegisterState& each) {
        const bool follows = is_sum ? each.is_sum && is_alike(each.product, i) : !each.is_sum;
        if (each.product != kNone && !follows) {
          report(is_sum ? Kind::kWrittenInFlight : Kind::kReadInFlight, each.product, i, named);
        }
        if (each.written != kNone && !(each.is_computed && state.is_fenced)) {
          report(Kind::kFenceMissing, i, each.written, named);
        }
      });
    };
    check(sums, true);
    if (has_registers) {
      check(a, false);
      visit(a, state, [&](const Operand&, RegisterState& each) { each = {.product = i}; });
    }
    visit(sums, state,
          [&](const Operand&, RegisterState& each) { each = {.product = i, .is_sum = true}; });
  }

  // Sums of products of one shape follow each other in order.
  [[nodiscard]] bool is_alike(std::size_t product, std::size_t other) const {
    if (product == kNone) {
      return true;
    }
    const auto one = read_warpgroup_product(statement(product).instruction);
    const auto two = read_warpgroup_product(statement(other).instruction);
    return one && two && one->depth == two->depth &&
           statement(product).instruction.operands[kProductSums].elements.size() ==
               statement(other).instruction.operands[kProductSums].elements.size();
  }

  void move(std::size_t i, const Instruction& instruction, State& state) {
    const auto to = numbers_.find(instruction.operands[0].name);
    const auto from = numbers_.find(instruction.operands[1].name);
    if (to == numbers_.end() || from == numbers_.end()) {
      return;
    }
    RegisterState& target = state.registers[to->second];
    const RegisterState& source = state.registers[from->second];
    if (target.product != kNone && !target.is_copy && source.product == kNone) {
      report(Kind::kWrittenInFlight, target.product, i, instruction.operands[0]);
    }
    target = source;
    target.is_copy = source.product != kNone;
  }

  void touch(std::size_t i, const Instruction& instruction, const Effect& effect, State& state) {
    using enum OpcodeClass;
    const OpcodeClass c = effect.opcode_class;
    for (std::size_t n = 0; n < instruction.operands.size(); ++n) {
      const Operand& operand = instruction.operands[n];
      const bool is_result = n == 0 && operand.kind != Operand::Kind::kAddress && c != kBranch &&
                             c != kUnknown && (c != kCall || operand.kind == Operand::Kind::kList);
      visit(operand, state, [&](const Operand& named, RegisterState& each) {
        if (each.product != kNone && !(is_result && each.is_copy)) {
          report(is_result ? Kind::kWrittenInFlight : Kind::kReadInFlight, each.product, i, named);
        }
        if (is_result) {
          each = {.written = i, .is_computed = c == kArithmetic};
        }
      });
    }
  }

  template <typename Visit>
  void visit(const Operand& operand, State& state, const Visit& each) {
    visit_registers(operand, [&](const Operand& named) {
      const auto found = numbers_.find(named.name);
      if (found != numbers_.end()) {
        each(named, state.registers[found->second]);
      }
    });
  }

  void report(Kind kind, std::size_t product, std::size_t touched, const Operand& named) {
    if (is_reporting_) {
      found_.push_back(
          {.kind = kind, .product = product, .touch = touched, .register_name = named.name});
    }
  }

  [[nodiscard]] std::vector<FoundHazard> kept() const {
    std::vector<FoundHazard> kept;
    for (const FoundHazard& hazard : found_) {
      const bool is_known = std::ranges::any_of(kept, [&](const FoundHazard& each) {
        return each.kind == hazard.kind && each.product == hazard.product;
      });
      if (!is_known) {
        kept.push_back(hazard);
      }
    }
    return kept;
  }

  const Program& program_;
  const Function& function_;
  const ControlFlow& flow_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> numbers_;
  std::vector<State> before_;
  std::vector<FoundHazard> found_;
  bool is_reporting_ = false;
};

bool has_product(const Program& program, const Function& function) {
  return std::any_of(program.effects.begin() + static_cast<std::ptrdiff_t>(function.body_begin),
                     program.effects.begin() + static_cast<std::ptrdiff_t>(function.body_end),
                     is_product);
}

}  // namespace

std::vector<FoundHazard> find_register_hazards(Program& program, std::uint32_t index) {
  const Function& function = program.function(index);
  if (!function.has_body || !has_product(program, function)) {
    return {};
  }
  const auto flow = program.flow_of(index);
  return flow ? Walk(program, function, **flow).run() : std::vector<FoundHazard>{};
}

}  // namespace barracuda::ptx
