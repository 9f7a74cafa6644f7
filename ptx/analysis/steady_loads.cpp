#include "ptx/analysis/steady_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "ptx/analysis/shared_writes.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

// What is asked of a barrier is answered once, for an unrolled product has thousands of such loads.
class Finder {
 public:
  Finder(const Module& module, const Function& function, const ControlFlow& flow)
      : module_(module), function_(function), flow_(flow), writes_(module, function) {
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (const std::optional<SharedPiece> piece = writes_.read_by(i)) {
        loads_.push_back({.statement = i, .piece = *piece});
      }
    }
    if (!loads_.empty()) {
      find_barriers();
    }
  }

  // One that names what it reads.
  struct Load {
    std::size_t statement = 0;
    SharedPiece piece;
  };

  [[nodiscard]] const std::vector<Load>& loads() const { return loads_; }

  // None if what it reads may be written behind one of them.
  [[nodiscard]] std::vector<std::size_t> barriers_before(const Load& load) {
    const std::size_t last = last_in_block_[load.statement - function_.body_begin];
    const std::vector<std::size_t> barriers =
        last != kNone ? std::vector{last} : barriers_into(flow_.block_of(load.statement));
    const bool is_written = std::ranges::any_of(barriers, [&](std::size_t barrier) {
      return std::ranges::any_of(written_behind(barrier), [&](std::size_t write) {
        return writes_.may_write(write, load.piece) &&
               writes_.may_lead_to(write, load.piece.variable);
      });
    });
    return is_written ? std::vector<std::size_t>{} : barriers;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  [[nodiscard]] const Instruction* instruction_at(std::size_t at) const {
    const Statement& statement = module_.statements[at];
    return statement.kind == StatementKind::kInstruction ? &statement.instruction : nullptr;
  }

  void find_barriers() {
    const std::size_t size = function_.body_end - function_.body_begin;
    is_barrier_.resize(size);
    last_in_block_.resize(size, kNone);
    for (const BasicBlock& block : flow_.blocks) {
      std::size_t last = kNone;
      for (std::size_t i = block.begin; i < std::min(block.end, function_.body_end); ++i) {
        last_in_block_[i - function_.body_begin] = last;
        const Instruction* const instruction = instruction_at(i);
        if (instruction != nullptr && instruction->predicate.empty()) {
          const Effect effect = classify(*instruction);
          if (effect.opcode_class == OpcodeClass::kBarrier && effect.count_operand < 0) {
            is_barrier_[i - function_.body_begin] = true;
            last = i;
          }
        }
      }
    }
  }

  [[nodiscard]] bool is_barrier(std::size_t at) const {
    return is_barrier_[at - function_.body_begin];
  }

  // The last ones on all ways to a block; none where a way begins with the function.
  const std::vector<std::size_t>& barriers_into(std::uint32_t block) {
    const auto [known, is_new] = into_.try_emplace(block);
    if (!is_new) {
      return known->second;
    }
    std::vector<std::size_t>& barriers = known->second;
    std::vector<std::uint32_t> todo{block};
    std::vector<bool> is_seen(flow_.blocks.size());
    while (!todo.empty()) {
      const std::uint32_t index = todo.back();
      todo.pop_back();
      if (index == 0) {
        barriers.clear();
        return barriers;
      }
      for (const std::uint32_t before : flow_.blocks[index].predecessors) {
        if (!flow_.blocks[before].is_reachable || is_seen[before]) {
          continue;
        }
        is_seen[before] = true;
        if (const std::size_t last = last_in(flow_.blocks[before]); last != kNone) {
          barriers.push_back(last);
        } else {
          todo.push_back(before);
        }
      }
    }
    return barriers;
  }

  [[nodiscard]] std::size_t last_in(const BasicBlock& block) const {
    const std::size_t end = std::min(block.end, function_.body_end);
    if (end <= block.begin) {
      return kNone;
    }
    return is_barrier(end - 1) ? end - 1 : last_in_block_[end - 1 - function_.body_begin];
  }

  // What may write shared memory before the next barriers.
  const std::vector<std::size_t>& written_behind(std::size_t barrier) {
    const auto [known, is_new] = written_.try_emplace(barrier);
    std::vector<std::size_t> todo;
    std::vector<bool> is_seen(is_new ? flow_.blocks.size() : 0);
    if (is_new) {
      todo.push_back(barrier + 1);
    }
    while (!todo.empty()) {
      std::size_t at = todo.back();
      todo.pop_back();
      const BasicBlock& block = flow_.blocks[flow_.block_of(at)];
      const std::size_t end = std::min(block.end, function_.body_end);
      for (; at < end && !is_barrier(at); ++at) {
        if (writes_.may_write(at)) {
          known->second.push_back(at);
        }
      }
      for (const std::uint32_t next : block.successors) {
        if (at == end && !is_seen[next]) {
          is_seen[next] = true;
          todo.push_back(flow_.blocks[next].begin);
        }
      }
    }
    return known->second;
  }

  const Module& module_;
  const Function& function_;
  const ControlFlow& flow_;
  const SharedWrites writes_;
  std::vector<Load> loads_;
  std::vector<bool> is_barrier_;            // by statement of the body
  std::vector<std::size_t> last_in_block_;  // the barrier before it in its block
  std::map<std::uint32_t, std::vector<std::size_t>> into_;
  std::map<std::size_t, std::vector<std::size_t>> written_;  // by barrier
};

}  // namespace

SteadyLoads::SteadyLoads(const Module& module, const Function& function, const ControlFlow& flow) {
  Finder finder(module, function, flow);
  for (const Finder::Load& load : finder.loads()) {
    if (std::vector<std::size_t> barriers = finder.barriers_before(load); !barriers.empty()) {
      barriers_.emplace(load.statement, std::move(barriers));
    }
  }
}

const std::vector<std::size_t>* SteadyLoads::barriers_before(std::size_t load) const {
  const auto found = barriers_.find(load);
  return found == barriers_.end() ? nullptr : &found->second;
}

}  // namespace barracuda::ptx
