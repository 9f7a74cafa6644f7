#include "ptx/analysis/polling.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace barracuda::ptx {
namespace {

// All lanes of the warp that are not over execute it together.
bool divides_stretches(const Statement& statement, const Effect& effect) {
  const Instruction& instruction = statement.instruction;
  return effect.opcode_class == OpcodeClass::kBarrier && instruction.predicate.empty() &&
         (instruction.opcode == Opcode::kBar || instruction.has(Modifier::kAligned));
}

bool waits_for_others(const Statement& statement, const Effect& effect) {
  const OpcodeClass c = effect.opcode_class;
  return (c == OpcodeClass::kBarrier && !divides_stretches(statement, effect)) ||
         c == OpcodeClass::kClusterBarrier || c == OpcodeClass::kGridDependency;
}

bool polls_itself(const Program& program, std::uint32_t index, const ControlFlow& flow) {
  const FunctionFacts& facts = program.functions[index];
  const Function& function = program.function(index);
  bool polls = facts.calls_indirectly || !loop_heads(flow).empty();
  for (const std::uint32_t callee : facts.callees) {  // recursion
    const auto& below = program.functions[callee].reachable;
    polls = polls || std::ranges::find(below, index) != below.end();
  }
  for (std::size_t i = function.body_begin; i < function.body_end && !polls; ++i) {
    const Statement& statement = program.module.statements[i];
    polls = statement.kind == StatementKind::kInstruction &&
            waits_for_others(statement, program.effects[i]);
  }
  return polls;
}

// The pieces of basic blocks between the barriers that divide stretches.
class Stretches {
 public:
  Stretches(const Program& program, const Function& function, const ControlFlow& flow)
      : body_begin_(function.body_begin), piece_of_(function.body_end + 1 - function.body_begin) {
    std::vector<std::uint32_t> first(flow.blocks.size()), last(flow.blocks.size());
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      first[b] = pieces_++;
      for (std::size_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
        piece_of_[i - body_begin_] = pieces_ - 1;
        const Statement& statement = program.module.statements[i];
        pieces_ += statement.kind == StatementKind::kInstruction &&
                           divides_stretches(statement, program.effects[i])
                       ? 1
                       : 0;
      }
      last[b] = pieces_ - 1;
    }
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      for (const std::uint32_t successor : flow.blocks[b].successors) {
        edges_.emplace_back(last[b], first[successor]);
      }
    }
    find_stretches();
    find_cycles();
  }

  void mark_polling(std::size_t statement) {
    polls_[stretch_of_piece(piece_of_[statement - body_begin_])] = true;
  }

  [[nodiscard]] std::vector<bool> by_statement() {
    std::vector<bool> polling;
    polling.reserve(piece_of_.size());
    for (const std::uint32_t piece : piece_of_) {
      polling.push_back(polls_[stretch_of_piece(piece)]);
    }
    return polling;
  }

 private:
  std::uint32_t stretch_of_piece(std::uint32_t piece) {
    while (stretch_[piece] != piece) {
      piece = stretch_[piece] = stretch_[stretch_[piece]];
    }
    return piece;
  }

  void find_stretches() {
    stretch_.resize(pieces_);
    std::iota(stretch_.begin(), stretch_.end(), 0U);
    for (const auto& [from, to] : edges_) {
      stretch_[stretch_of_piece(from)] = stretch_of_piece(to);
    }
  }

  // Takes away, again and again, pieces that no edge leads to: what is left has a cycle.
  void find_cycles() {
    polls_.resize(pieces_);
    std::vector<std::uint32_t> entries(pieces_), free;
    std::vector<std::vector<std::uint32_t>> successors(pieces_);
    for (const auto& [from, to] : edges_) {
      ++entries[to];
      successors[from].push_back(to);
    }
    for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
      if (entries[piece] == 0) {
        free.push_back(piece);
      }
    }
    while (!free.empty()) {
      const std::uint32_t piece = free.back();
      free.pop_back();
      for (const std::uint32_t successor : successors[piece]) {
        if (--entries[successor] == 0) {
          free.push_back(successor);
        }
      }
    }
    for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
      if (entries[piece] != 0) {
        polls_[stretch_of_piece(piece)] = true;
      }
    }
  }

  std::size_t body_begin_;
  std::uint32_t pieces_ = 0;
  std::vector<std::uint32_t> piece_of_;  // by statement
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::uint32_t> stretch_;  // by piece: another one of its stretch, or itself
  std::vector<bool> polls_;             // by the piece that stands for its stretch
};

bool calls_poller(const Program& program, std::size_t statement, const Pollers& pollers) {
  const Operand* const callee = callee_of(program.module.statements[statement].instruction);
  if (callee == nullptr || callee->kind != Operand::Kind::kSymbol) {
    return true;
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body && program.function(i).name == callee->name) {
      return pollers.by_calls[i];
    }
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> loop_heads(const ControlFlow& flow) {
  std::vector<std::uint32_t> heads;
  for (const BasicBlock& block : flow.blocks) {
    for (const std::uint32_t successor : block.successors) {
      if (flow.blocks[successor].begin <= block.begin) {
        heads.push_back(successor);
      }
    }
  }
  std::ranges::sort(heads);
  const auto repeated = std::ranges::unique(heads);
  heads.erase(repeated.begin(), repeated.end());
  return heads;
}

Expected<Pollers> find_pollers(Program& program) {
  const std::size_t count = program.functions.size();
  std::vector<bool> polls(count);  // the device's own functions, without a body, come to an end
  for (std::uint32_t i = 0; i < count; ++i) {
    if (program.function(i).has_body) {
      TRY(const ControlFlow* const flow, program.flow_of(i));
      polls[i] = polls_itself(program, i, *flow);
    }
  }
  Pollers pollers{.by_calls = std::vector<bool>(count), .beside = std::vector<bool>(count)};
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& reachable = program.functions[i].reachable;
    pollers.by_calls[i] = std::ranges::any_of(reachable, [&](std::uint32_t r) { return polls[r]; });
    pollers.beside[i] = pollers.beside[i] || program.functions[i].is_address_taken;
    if (pollers.by_calls[i]) {
      for (const std::uint32_t r : reachable) {
        pollers.beside[r] = true;
      }
    }
  }
  return pollers;
}

std::vector<bool> find_polling(const Program& program, std::uint32_t index, const ControlFlow& flow,
                               const Pollers& pollers) {
  const Function& function = program.function(index);
  if (!function.is_entry) {
    return std::vector<bool>(function.body_end + 1 - function.body_begin, pollers.beside[index]);
  }
  Stretches stretches(program, function, flow);
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kInstruction &&
        (waits_for_others(statement, program.effects[i]) ||
         (program.effects[i].opcode_class == OpcodeClass::kCall &&
          calls_poller(program, i, pollers)))) {
      stretches.mark_polling(i);
    }
  }
  return stretches.by_statement();
}

}  // namespace barracuda::ptx
