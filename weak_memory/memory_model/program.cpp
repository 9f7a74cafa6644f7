#include "weak_memory/memory_model/program.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// The one quotient that does not fit wraps, as the other operations do.
std::uint64_t quotient(std::int64_t left, std::int64_t right) {
  if (right == 0) {
    return 0;
  }
  if (right == -1) {
    return -static_cast<std::uint64_t>(left);
  }
  return static_cast<std::uint64_t>(left / right);
}

bool are_identical(const Thread& left, const Thread& right) {
  const auto do_the_same = [](const Instruction& a, const Instruction& b) {
    return a.does_the_same_as(b);
  };
  return left.includes(Scope::kCta, right) && left.registers == right.registers &&
         left.initial == right.initial &&
         std::ranges::equal(left.instructions, right.instructions, do_the_same);
}

// The half of "morally strong" that the access itself has to bring.
bool is_strong_for(const Thread& one, const Instruction& access, const Thread& other) {
  return access.order != Order::kWeak && access.proxy == Proxy::kGeneric &&
         access.address == access.generic && one.includes(access.scope, other);
}

}  // namespace

std::uint64_t compute(Operation operation, std::uint64_t left, std::uint64_t right) {
  switch (operation) {
    case Operation::kMove:
      return right;
    case Operation::kAdd:
      return left + right;
    case Operation::kSub:
      return left - right;
    case Operation::kMul:
      return left * right;
    case Operation::kDiv:
      return quotient(as_signed(left), as_signed(right));
    case Operation::kAnd:
      return left & right;
    case Operation::kOr:
      return left | right;
    case Operation::kXor:
      return left ^ right;
  }
  ASSERT(false);
}

bool compare(Comparison comparison, std::uint64_t left, std::uint64_t right) {
  switch (comparison) {
    case Comparison::kEqual:
      return left == right;
    case Comparison::kNotEqual:
      return left != right;
    case Comparison::kGreaterEqual:
      return as_signed(left) >= as_signed(right);
    case Comparison::kLessEqual:
      return as_signed(left) <= as_signed(right);
    case Comparison::kGreater:
      return as_signed(left) > as_signed(right);
    case Comparison::kLess:
      return as_signed(left) < as_signed(right);
  }
  ASSERT(false);
}

bool may_race(const Program& program, const Thread& one, const Instruction& access) {
  return std::ranges::any_of(program.threads, [&](const Thread& other) {
    return &one != &other && std::ranges::any_of(other.instructions, [&](const Instruction& each) {
      const bool conflict =
          each.accesses() && each.location == access.location && (each.writes() || access.writes());
      return conflict && !(is_strong_for(one, access, other) && is_strong_for(other, each, one));
    });
  });
}

std::vector<bool> strongly_written(const Program& program) {
  std::vector<bool> is_strong(program.locations, true);
  for (const Thread& one : program.threads) {
    for (const Instruction& each : one.instructions) {
      if (each.writes()) {
        const bool is_strong_with_all = std::ranges::all_of(
            program.threads,
            [&](const Thread& other) { return &one == &other || is_strong_for(one, each, other); });
        is_strong[each.location] = is_strong[each.location] && is_strong_with_all;
      }
    }
  }
  return is_strong;
}

std::vector<std::vector<std::size_t>> identical_threads(const Program& program) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t thread = 0; thread < program.threads.size(); ++thread) {
    const auto alike = std::ranges::find_if(groups, [&](const auto& group) {
      return are_identical(program.threads[group.front()], program.threads[thread]);
    });
    alike == groups.end() ? groups.push_back({thread}) : alike->push_back(thread);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() == 1; });
  return groups;
}

std::vector<std::size_t> first_registers(const Program& program) {
  std::vector<std::size_t> first = {0};
  for (const Thread& thread : program.threads) {
    first.push_back(first.back() + thread.registers);
  }
  return first;
}

Outcome initial_registers(const Program& program) {
  Outcome registers;
  for (const Thread& thread : program.threads) {
    std::vector<std::uint64_t> own = thread.initial;
    own.resize(thread.registers);
    registers.insert(registers.end(), own.begin(), own.end());
  }
  return registers;
}

}  // namespace barracuda::memory_model
