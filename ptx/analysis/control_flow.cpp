#include "ptx/control_flow.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/analysis/dominators.h"
#include "ptx/analysis/label_scopes.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

namespace {

class ControlFlowBuilder {
 public:
  ControlFlowBuilder(const Module& module, const Function& function)
      : module_(module), function_(function), labels_(module, function) {}

  Expected<ControlFlow> build() {
    split();
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      TRY([[maybe_unused]] const bool connected, connect(block));
    }
    add_dominators();
    add_post_dominators();
    number_dominator_tree();
    DEBUG_ASSERT(is_valid());
    return std::move(flow_);
  }

 private:
  void split();
  void start_block(std::size_t statement);
  Expected<bool> connect(std::uint32_t block);
  Expected<bool> connect_branch(std::uint32_t block, std::size_t statement);
  Expected<bool> connect_label(std::uint32_t block, std::size_t statement, std::string_view label);
  void fall_through(std::uint32_t block);
  void add_edge(std::uint32_t from, std::uint32_t to);
  void add_dominators();
  void add_post_dominators();
  void number_dominator_tree();
  // The blocks are the body, one behind the other, and every edge is known at both of its ends.
  [[nodiscard]] bool is_valid() const;

  const Module& module_;
  const Function& function_;
  LabelScopes labels_;
  ControlFlow flow_;
  // Per block: its last statement that is a branch, return, exit or trap; kNowhere if it has none.
  std::vector<std::size_t> ends_;
};

bool ends_block(OpcodeClass opcode_class) {
  return opcode_class == OpcodeClass::kBranch || opcode_class == OpcodeClass::kReturn ||
         opcode_class == OpcodeClass::kExit || opcode_class == OpcodeClass::kTrap;
}

bool ControlFlowBuilder::is_valid() const {
  std::size_t begin = function_.body_begin;
  for (std::uint32_t index = 0; index < flow_.blocks.size(); ++index) {
    const BasicBlock& block = flow_.blocks[index];
    const bool are_known = std::ranges::all_of(block.successors, [&](std::uint32_t successor) {
      const auto& back = flow_.blocks.at(successor).predecessors;
      return std::ranges::find(back, index) != back.end();
    });
    if (block.begin != begin || block.end <= block.begin || !are_known) {
      return false;
    }
    begin = block.end;
  }
  return begin == function_.body_end + 1;
}

void ControlFlowBuilder::start_block(std::size_t statement) {
  if (!flow_.blocks.empty()) {
    flow_.blocks.back().end = statement;
  }
  flow_.blocks.push_back({.begin = statement});
  ends_.push_back(LabelScopes::kNowhere);
}

void ControlFlowBuilder::split() {
  start_block(function_.body_begin);
  // The entry takes no label, so that nothing branches to it.
  bool takes_label = false;
  for (std::size_t i = function_.body_begin + 1; i < function_.body_end; ++i) {
    const Statement& statement = module_.statements[i];
    if (ends_.back() != LabelScopes::kNowhere && statement.kind != StatementKind::kBlockClose) {
      start_block(i);
      takes_label = true;
    }
    if (statement.kind == StatementKind::kLabel && !takes_label) {
      start_block(i);
      takes_label = true;
    } else if (statement.kind == StatementKind::kInstruction) {
      takes_label = false;
      if (ends_block(classify(statement.instruction).opcode_class)) {
        ends_.back() = i;
      }
    }
  }
  flow_.blocks.back().end = function_.body_end + 1;
  ASSERT(ends_.size() == flow_.blocks.size());
}

void ControlFlowBuilder::add_edge(std::uint32_t from, std::uint32_t to) {
  ASSERT(from < flow_.blocks.size() && to < flow_.blocks.size());
  // Blocks are connected one after the other: an edge met twice was the last one added.
  auto& predecessors = flow_.blocks[to].predecessors;
  if (predecessors.empty() || predecessors.back() != from) {
    predecessors.push_back(from);
    flow_.blocks[from].successors.push_back(to);
  }
}

void ControlFlowBuilder::fall_through(std::uint32_t block) {
  if (block + 1 < flow_.blocks.size()) {
    add_edge(block, block + 1);
  } else {
    flow_.blocks[block].leaves = true;
  }
}

Expected<bool> ControlFlowBuilder::connect(std::uint32_t block) {
  const std::size_t end = ends_[block];
  if (end == LabelScopes::kNowhere) {
    fall_through(block);
    return true;
  }
  const Instruction& instruction = module_.statements[end].instruction;
  const OpcodeClass opcode_class = classify(instruction).opcode_class;
  if (opcode_class == OpcodeClass::kBranch) {
    TRY([[maybe_unused]] const bool connected, connect_branch(block, end));
  } else if (opcode_class != OpcodeClass::kTrap) {
    flow_.blocks[block].leaves = true;
  }
  if (!instruction.predicate.empty()) {
    fall_through(block);
  }
  return true;
}

Expected<bool> ControlFlowBuilder::connect_branch(std::uint32_t block, std::size_t statement) {
  const Statement& branch = module_.statements[statement];
  const std::vector<Operand>& operands = branch.instruction.operands;
  if (operands.empty()) {
    return unexpected({.message = fmt::format("\"{}\" without a target", branch.text),
                       .file = {},
                       .line = branch.position.line,
                       .column = branch.position.column});
  }
  // The target of a plain branch, or the list of an indexed one, stands last.
  const std::string_view name = operands.back().name;
  if (branch.instruction.opcode == Opcode::kBra) {
    return connect_label(block, statement, name);
  }
  const std::size_t list = labels_.find(statement, name);
  if (list == LabelScopes::kNowhere) {
    return connect_label(block, statement, name);
  }
  for (const std::string_view target : module_.statements[list].targets) {
    TRY([[maybe_unused]] const bool connected, connect_label(block, list, target));
  }
  return true;
}

Expected<bool> ControlFlowBuilder::connect_label(std::uint32_t block, std::size_t statement,
                                                 std::string_view label) {
  const std::size_t target = labels_.find(statement, label);
  if (target == LabelScopes::kNowhere) {
    const Position position = module_.statements[statement].position;
    return unexpected({.message = fmt::format(R"(branch to the unknown label "{}" in "{}")", label,
                                              function_.name),
                       .file = {},
                       .line = position.line,
                       .column = position.column});
  }
  add_edge(block, flow_.block_of(target));
  return true;
}

void ControlFlowBuilder::add_dominators() {
  Graph graph;
  graph.reserve(flow_.blocks.size());
  for (const BasicBlock& block : flow_.blocks) {
    graph.push_back(block.successors);
  }
  const auto dominators = immediate_dominators(graph, 0);
  for (std::size_t i = 0; i < flow_.blocks.size(); ++i) {
    flow_.blocks[i].immediate_dominator = dominators[i];
    flow_.blocks[i].is_reachable = i == 0 || dominators[i] != kNoNode;
  }
}

void ControlFlowBuilder::add_post_dominators() {
  // The reversed graph, rooted at a node that stands for the function's end. Blocks that are never
  // reached would add paths that do not exist.
  const auto end = static_cast<std::uint32_t>(flow_.blocks.size());
  Graph reversed(flow_.blocks.size() + 1);
  for (std::uint32_t i = 0; i < end; ++i) {
    const BasicBlock& block = flow_.blocks[i];
    if (!block.is_reachable) {
      continue;
    }
    if (block.leaves) {
      reversed[end].push_back(i);
    }
    for (const std::uint32_t predecessor : block.predecessors) {
      if (flow_.blocks[predecessor].is_reachable) {
        reversed[i].push_back(predecessor);
      }
    }
  }
  const auto dominators = immediate_dominators(reversed, end);
  for (std::size_t i = 0; i < flow_.blocks.size(); ++i) {
    flow_.blocks[i].immediate_post_dominator = dominators[i] == end ? kNoBlock : dominators[i];
  }
}

void ControlFlowBuilder::number_dominator_tree() {
  Graph children(flow_.blocks.size());
  for (std::uint32_t i = 1; i < flow_.blocks.size(); ++i) {
    if (flow_.blocks[i].is_reachable) {
      children[flow_.blocks[i].immediate_dominator].push_back(i);
    }
  }
  std::uint32_t clock = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
  flow_.blocks[0].dominator_enter = clock++;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == children[node].size()) {
      flow_.blocks[node].dominator_leave = clock++;
      stack.pop_back();
      continue;
    }
    const std::uint32_t child = children[node][next++];
    flow_.blocks[child].dominator_enter = clock++;
    stack.emplace_back(child, 0);
  }
}

}  // namespace

std::uint32_t ControlFlow::block_of(std::size_t statement) const {
  const auto after = std::ranges::upper_bound(blocks, statement, {}, &BasicBlock::begin);
  if (after == blocks.begin() || statement >= std::prev(after)->end) {
    return kNoBlock;
  }
  return static_cast<std::uint32_t>(after - blocks.begin()) - 1;
}

bool ControlFlow::dominates(std::uint32_t dominator, std::uint32_t block) const {
  ASSERT(dominator < blocks.size() && block < blocks.size());
  const BasicBlock& a = blocks[dominator];
  const BasicBlock& b = blocks[block];
  return dominator == block ||
         (a.is_reachable && b.is_reachable && a.dominator_enter <= b.dominator_enter &&
          b.dominator_leave <= a.dominator_leave);
}

Expected<ControlFlow> build_control_flow(const Module& module, const Function& function) {
  if (!function.has_body || function.body_end >= module.statements.size()) {
    return unexpected({.message = fmt::format("\"{}\" has no body", function.name)});
  }
  return ControlFlowBuilder(module, function).build();
}

}  // namespace barracuda::ptx
