// The verdicts of the PTX model on the tests of the literature.
#include <catch2/catch.hpp>

#include "tests/unit/weak_memory/memory_model/litmus.h"
#include "weak_memory/memory_model/enumeration.h"

namespace barracuda::memory_model {
namespace {

using namespace litmus;  // NOLINT(google-build-using-namespace): the programs' own words

constexpr Order kPlain = Order::kWeak;
constexpr Order kRelaxed = Order::kRelaxed;
constexpr Scope kGpu = Scope::kGpu;
constexpr Scope kCta = Scope::kCta;

bool allows(const std::vector<Thread>& threads, const Outcome& outcome) {
  return ptx_outcomes(program(threads)).contains(outcome);
}

std::vector<Thread> message_passing(const Instruction& before_flag, const Instruction& after_flag,
                                    std::uint32_t reader_cta = 1) {
  return {thread(0, {store(kX, 1), before_flag, store(kY, 1, kRelaxed, kGpu)}),
          thread(reader_cta, {load(0, kY, kRelaxed, kGpu), after_flag, load(1, kX)})};
}

TEST_CASE("message passing needs both fences") {
  const Instruction wide = fence(Order::kAcqRel, kGpu);
  const Instruction none = fence(Order::kAcqRel, kCta);
  CHECK_FALSE(allows(message_passing(wide, wide), {1, 0}));
  CHECK(allows(message_passing(none, wide), {1, 0}));
  CHECK(allows(message_passing(wide, none), {1, 0}));
  CHECK(allows(message_passing(wide, wide), {1, 1}));
  CHECK(allows(message_passing(wide, wide), {0, 0}));
}

TEST_CASE("fences of a CTA serve within it") {
  const Instruction narrow = fence(Order::kAcqRel, kCta);
  CHECK_FALSE(allows(message_passing(narrow, narrow, 0), {1, 0}));
}

TEST_CASE("a release fence does not acquire, nor an acquire fence release") {
  const Instruction release = fence(Order::kRelease, kGpu);
  const Instruction acquire = fence(Order::kAcquire, kGpu);
  CHECK_FALSE(allows(message_passing(release, acquire), {1, 0}));
  CHECK(allows(message_passing(acquire, acquire), {1, 0}));
  CHECK(allows(message_passing(release, release), {1, 0}));
}

TEST_CASE("a release and an acquire pass a message") {
  const Thread writer = thread(0, {store(kX, 1), store(kY, 1, Order::kRelease, kGpu)});
  CHECK_FALSE(
      allows({writer, thread(1, {load(0, kY, Order::kAcquire, kGpu), load(1, kX)})}, {1, 0}));
  CHECK(allows({writer, thread(1, {load(0, kY, Order::kAcquire, kCta), load(1, kX)})}, {1, 0}));
  CHECK(allows({writer, thread(1, {load(0, kY), load(1, kX)})}, {1, 0}));
}

std::vector<Thread> store_buffering(const Instruction& first, const Instruction& second) {
  return {thread(0, {store(kX, 1, kRelaxed, kGpu), first, load(0, kY, kRelaxed, kGpu)}),
          thread(1, {store(kY, 1, kRelaxed, kGpu), second, load(0, kX, kRelaxed, kGpu)})};
}

TEST_CASE("store buffering needs sequentially consistent fences") {
  const Instruction sc = fence(Order::kSc, kGpu);
  CHECK_FALSE(allows(store_buffering(sc, sc), {0, 0}));
  CHECK(allows(store_buffering(sc, fence(Order::kAcqRel, kGpu)), {0, 0}));
  CHECK(allows(store_buffering(sc, fence(Order::kSc, kCta)), {0, 0}));
}

TEST_CASE("load buffering is allowed, a value out of thin air is not") {
  CHECK(allows({thread(0, {load(0, kX, kRelaxed, kGpu), store(kY, 1, kRelaxed, kGpu)}),
                thread(1, {load(0, kY, kRelaxed, kGpu), store(kX, 1, kRelaxed, kGpu)})},
               {1, 1}));
  CHECK(ptx_outcomes(program({thread(0, {load(0, kX), store_read(kY, 0)}),
                              thread(1, {load(0, kY), store_read(kX, 0)})})) ==
        std::set<Outcome>{{0, 0}});
}

TEST_CASE("strong loads of one location do not go back in time, plain ones may") {
  const Thread writer = thread(0, {store(kX, 1, kRelaxed, kGpu)});
  CHECK_FALSE(allows(
      {writer, thread(1, {load(0, kX, kRelaxed, kGpu), load(1, kX, kRelaxed, kGpu)})}, {1, 0}));
  CHECK(allows({writer, thread(1, {load(0, kX), load(1, kX)})}, {1, 0}));
  CHECK_FALSE(allows({thread(0, {store(kX, 1), load(0, kX)}), thread(1, {load(0, kY)})}, {0, 0}));
}

TEST_CASE("causality is cumulative") {
  const auto chain = [](Scope first) {
    return std::vector{thread(0, {store(kX, 1, Order::kRelaxed, first)}),
                       thread(0, {load(0, kX, Order::kRelaxed, first), fence(Order::kAcqRel, kGpu),
                                  store(kY, 1, Order::kRelaxed, kGpu)}),
                       thread(1, {load(0, kY, Order::kRelaxed, kGpu), fence(Order::kAcqRel, kGpu),
                                  load(1, kX, Order::kRelaxed, kGpu)})};
  };
  CHECK_FALSE(allows(chain(kGpu), {1, 1, 0}));
  CHECK_FALSE(allows(chain(kCta), {1, 1, 0}));  // the write is observed within its CTA
}

TEST_CASE("independent readers agree with sequentially consistent fences") {
  const auto readers = [](Order order) {
    return std::vector{
        thread(0, {store(kX, 1, kRelaxed, kGpu)}), thread(1, {store(kY, 1, kRelaxed, kGpu)}),
        thread(2, {load(0, kX, kRelaxed, kGpu), fence(order, kGpu), load(1, kY, kRelaxed, kGpu)}),
        thread(3, {load(0, kY, kRelaxed, kGpu), fence(order, kGpu), load(1, kX, kRelaxed, kGpu)})};
  };
  CHECK_FALSE(allows(readers(Order::kSc), {1, 0, 1, 0}));
  CHECK(allows(readers(Order::kAcqRel), {1, 0, 1, 0}));
}

TEST_CASE("atomics are atomic where their scopes include each other") {
  const auto counter = [](Scope scope) {
    const Instruction add = update(Operation::kAdd, 0, kX, 1, kRelaxed, scope);
    return std::vector{thread(0, {add}), thread(1, {add})};
  };
  CHECK_FALSE(allows(counter(kGpu), {0, 0}));
  CHECK(allows(counter(kGpu), {0, 1}));
  CHECK(allows(counter(kCta), {0, 0}));
}

TEST_CASE("a release is observed through atomics") {
  const Thread writer = thread(0, {store(kX, 1), store(kY, 1, Order::kRelease, kGpu)});
  const Thread between = thread(1, {update(Operation::kAdd, 0, kY, 1, kRelaxed, kGpu)});
  const Thread reader = thread(2, {load(0, kY, Order::kAcquire, kGpu), load(1, kX)});
  CHECK_FALSE(allows({writer, between, reader}, {1, 2, 0}));
}

TEST_CASE("a barrier orders its CTA") {
  const auto pair = [](std::uint32_t reader_cta) {
    return std::vector{thread(0, {store(kX, 1), barrier()}),
                       thread(reader_cta, {barrier(), load(0, kX)})};
  };
  CHECK_FALSE(allows(pair(0), {0}));
  CHECK(allows(pair(1), {0}));
}

TEST_CASE("fences of mixed scopes that include each other act in one order") {
  // Two threads of one CTA, one of another.
  const std::vector threads = {
      thread(0,
             {store(kX, 1, kRelaxed, kGpu), fence(Order::kSc, kCta), load(0, kZ, kRelaxed, kGpu)}),
      thread(0,
             {store(kZ, 1, kRelaxed, kGpu), fence(Order::kSc, kGpu), load(0, kY, kRelaxed, kGpu)}),
      thread(1,
             {store(kY, 1, kRelaxed, kGpu), fence(Order::kSc, kGpu), load(0, kX, kRelaxed, kGpu)})};
  CHECK_FALSE(allows(threads, {0, 0, 0}));
}

TEST_CASE("plain accesses that race read anything") {
  CHECK(ptx_outcomes(program({thread(0, {store(kX, 1)}), thread(1, {load(0, kX, kPlain)})})) ==
        std::set<Outcome>{{0}, {1}});
}

}  // namespace
}  // namespace barracuda::memory_model
