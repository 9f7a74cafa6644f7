// State of the hooks that is broken on purpose is found out by an assertion, and what was locked
// meanwhile is not locked afterwards.
#include <memory>

#include <catch2/catch.hpp>

#include "preload/code_origins.h"
#include "preload/graph_book.h"
#include "preload/graph_plan.h"
#include "preload/guard.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::preload {
namespace {

using Catch::Contains;
using test::failed_assertion;

// Nodes in a row, each of which waits for the one before it.
std::shared_ptr<GraphPlan> plan_of_a_row(std::size_t nodes) {
  auto plan = std::make_shared<GraphPlan>();
  plan->nodes.resize(nodes);
  plan->kernels.resize(nodes);
  for (std::size_t i = 1; i < nodes; ++i) {
    plan->nodes[i].first_inside = i;
    plan->kernels[i].dependencies = {i - 1};
  }
  return plan;
}

CUgraphExec executable(std::uintptr_t handle) {
  return reinterpret_cast<CUgraphExec>(handle);
}

}  // namespace

TEST_CASE("a plan whose two views differ is not valid") {
  CHECK(plan_of_a_row(3)->is_valid());
  const auto shorter = plan_of_a_row(3);
  shorter->kernels.pop_back();
  CHECK_FALSE(shorter->is_valid());
  const auto waiting = plan_of_a_row(3);
  waiting->kernels[1].dependencies = {2};
  CHECK_FALSE(waiting->is_valid());
  const auto inside = plan_of_a_row(3);
  inside->nodes[1].first_inside = 2;
  CHECK_FALSE(inside->is_valid());
  const auto checked = plan_of_a_row(3);
  checked->kernels[2].is_checked = true;
  CHECK_FALSE(checked->is_valid());
}

TEST_CASE("a broken plan does not get into the book, which goes on") {
  GraphBook book;
  const auto plan = plan_of_a_row(2);
  plan->kernels[0].dependencies = {1};
  CHECK_THAT(failed_assertion([&] { book.add(executable(1), plan); }), Contains("graph_book.cpp"));
  CHECK(book.find(executable(1)) == nullptr);
  book.add(executable(1), plan_of_a_row(2));
  const auto known = book.find(executable(1));
  REQUIRE(known != nullptr);
  CHECK(known->number == 1);
  CHECK_THAT(failed_assertion([&] { book.add(executable(2), known); }), Contains("graph_book.cpp"));
}

TEST_CASE("nodes that a plan does not have are not changed") {
  GraphPlan plan;
  GraphPlan changed;
  CHECK_THAT(failed_assertion([&] { adopt(plan, 0, 1, changed); }), Contains("graph_plan.cpp"));
  CHECK_THAT(failed_assertion([&] { adopt(plan, 1, 0, changed); }), Contains("graph_plan.cpp"));
}

TEST_CASE("arguments are copied only to where the kernel has a place for them") {
  ptx::Kernel kernel{.name = "fill",
                     .parameters = {{.offset = 0, .size = 8}, {.offset = 8, .size = 8}},
                     .hidden_parameter_offset = 16,
                     .instrumented = true};
  std::uint64_t first = 1;
  std::uint64_t second = 2;
  void* arguments[] = {&first, &second};
  KernelNodeParameters parameters{};
  parameters.kernelParams = arguments;
  CHECK(failed_assertion([&] { (void)OwnedParameters(parameters, kernel); }).empty());
  kernel.hidden_parameter_offset = 8;
  CHECK_THAT(failed_assertion([&] { (void)OwnedParameters(parameters, kernel); }),
             Contains("graph_book.cpp"));
}

TEST_CASE("no origin is asked of no image, and the next one is found") {
  CHECK_THAT(failed_assertion([] { (void)find_origin(nullptr); }), Contains("code_origins.cpp"));
  const char header[64] = {};
  CHECK(find_origin(header) == nullptr);
}

TEST_CASE("work that was left from hooks inside it leaves none of them behind") {
  const HookCall outer("cuStreamSynchronize", nullptr);
  const bool done = HookScope::protect(Loss::kNothing, [] {
    const HookCall inner("cuLaunchKernel", nullptr);
    const HookScope scope;
    HookScope::escape();
  });
  CHECK_FALSE(done);
  CHECK(HookCall::current() == &outer);
  CHECK(HookScope().is_outermost());
}

TEST_CASE("a node has a hidden argument only if all of it is the same") {
  ptx::Kernel kernel;
  kernel.instrumented = true;
  OwnedParameters owned(KernelNodeParameters{}, kernel);
  CHECK(owned.has({}, 0));
  const wire::HiddenArgument first{.descriptor = 64, .shortcuts = {{.address = 256, .bytes = 32}}};
  (void)owned.with(first, 512);
  CHECK(owned.has(first, 512));
  CHECK_FALSE(owned.has(first, 0));
  CHECK_FALSE(owned.has({.descriptor = 64}, 512));  // the next replay logs all
}

}  // namespace barracuda::preload
