// The stack where a program called into the tool, walked once as long as the calls are the same.
#include "session/host_stack.h"

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

using Stack = std::vector<std::uint64_t>;

__attribute__((noinline)) Stack stack_here() {
  Stack stack = host_stack();
  asm volatile("" ::: "memory");  // no tail call
  return stack;
}

// Frames of one size, from two places of one function.
__attribute__((noinline)) Stack stack_through(int which) {
  Stack stack;
  if (which == 0) {
    stack = stack_here();
  } else {
    stack = stack_here();
    asm volatile("nop" ::: "memory");
  }
  return stack;
}

__attribute__((noinline)) Stack stack_below(int depth) {
  Stack stack = depth == 0 ? stack_here() : stack_below(depth - 1);
  asm volatile("" ::: "memory");
  return stack;
}

}  // namespace

TEST_CASE("the same calls have the same stack, and others another one") {
  std::vector<Stack> taken;
  for (const int which : {0, 0, 1, 1, 0}) {
    taken.push_back(stack_through(which));
    REQUIRE(taken.back().size() > 3);
  }
  CHECK(taken[0] == taken[1]);
  CHECK(taken[2] == taken[3]);
  CHECK(taken[0] == taken[4]);
  CHECK(taken[0] != taken[2]);
  CHECK(taken[0].back() == taken[2].back());
}

TEST_CASE("a stack has its innermost 64 frames") {
  CHECK(stack_below(0).size() < stack_below(3).size());
  CHECK(stack_below(100).size() == 64);
  CHECK(stack_below(100) == stack_below(100));
}

}  // namespace barracuda::session
