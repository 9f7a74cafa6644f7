// Whatever the emulated device's weak memory shows of a random program, the axioms of PTX allow.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "emulator/machine.h"
#include "tests/oracle/weak_memory/random_program.h"
#include "weak_memory/memory_model/enumeration.h"
#include "weak_memory/memory_model/models.h"

namespace barracuda::oracle {
namespace {

using emulator::Weakness;
using memory_model::Outcome;
using memory_model::Program;

constexpr std::uint32_t kDistanceOfGranules = 64;
constexpr std::uint64_t kMostStates = 100'000;  // of a program; the few that have more are cut

// What `program` ends with under one seed.
Outcome run_on_device(const Program& program, const KernelLayout& layout, std::uint64_t seed,
                      const Weakness& weakness) {
  emulator::Machine machine(
      {.seed = seed, .print = {}, .native_functions = {}, .weakness = weakness});
  const auto module = machine.load(kernel_of(program, layout));
  RC_ASSERT(module.has_value());
  std::size_t registers = 0;
  std::array<std::uint32_t, 4> in_cta{};
  std::uint32_t ctas = 0;
  std::uint32_t most_in_cta = 0;
  for (const memory_model::Thread& thread : program.threads) {
    registers += thread.registers;
    ctas = std::max(ctas, thread.cta + 1);
    most_in_cta = std::max(most_in_cta, ++in_cta[thread.cta]);
  }
  const std::size_t bytes = 4 * std::size_t{layout.distance} + 4 * registers + 256;
  const auto memory = machine.memory().allocate(bytes, emulator::AllocationKind::kDevice);
  RC_ASSERT(memory.has_value());
  std::memset(reinterpret_cast<void*>(*memory), 0, bytes);
  const std::uint64_t results = *memory + 4 * std::uint64_t{layout.distance} + 128;
  const std::array<std::uint64_t, 2> parameters = {*memory, results};
  emulator::LaunchConfig config;
  config.grid = {.x = ctas};
  config.block = {.x = (most_in_cta - 1) * layout.lanes_apart + 1};
  const auto error = machine.launch(*emulator::Machine::find_kernel(**module, "test"), config,
                                    std::as_bytes(std::span(parameters)));
  RC_LOG() << error.message;
  RC_ASSERT(error.code == emulator::DeviceErrorCode::kNone);
  Outcome outcome;
  for (std::size_t i = 0; i < registers; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(results + 4 * i), sizeof value);
    outcome.push_back(value);
  }
  return outcome;
}

Weakness weakness_of(std::uint64_t seed) {
  constexpr std::array kProbabilities = {1.0, 0.5, 0.75, 0.25};
  Weakness weakness;
  weakness.delay_stores = kProbabilities[seed % kProbabilities.size()];
  weakness.stale_reads = seed % 3 == 0 ? 0 : kProbabilities[seed / 3 % kProbabilities.size()];
  weakness.late_loads = seed % 2 == 0 ? 0 : kProbabilities[seed / 2 % kProbabilities.size()];
  weakness.weak_coherence = seed % 5 == 0;
  weakness.capacity = seed % 7 == 0 ? 1 : 256;
  weakness.block_level = seed % 13 != 0;
  weakness.seed = seed;
  if (seed % 11 == 0) {
    weakness.strong_age = 2;
    weakness.weak_age = 4;
  }
  return weakness;
}

// All that the device may show, as far as that many states tell.
memory_model::Exploration explore_device(const Program& program) {
  memory_model::ExploreOptions options;
  options.states = kMostStates;
  return memory_model::explore(litmus_of(program), memory_model::Model::kDevice, options);
}

constexpr std::uint64_t kSeeds = 48;
// 500 in an ordinary run of the tests, 20,000 with RC_PARAMS=max_success=4000.
constexpr int kProgramsOfACase = 5;

[[noreturn]] void fail(const Program& program, const Outcome& seen, const std::string& who,
                       const std::string& forbidden_by) {
  RC_LOG() << fmt::format("{} shows {}, which {} forbids:\n{}", who, fmt::join(seen, " "),
                          forbidden_by, describe(program));
  RC_FAIL("forbidden");
}

void check_program(const Program& program, const KernelLayout& layout) {
  const std::set<Outcome> allowed = memory_model::ptx_outcomes(program);
  const std::set<Outcome> allowed_by_newest =
      memory_model::ptx_outcomes(program, memory_model::PtxVersion::k75);
  const memory_model::Exploration explored = explore_device(program);
  std::set<Outcome> shown;
  for (const auto& [final, witness] : explored.finals) {
    shown.insert(final.registers);
    if (!allowed.contains(final.registers) || !allowed_by_newest.contains(final.registers)) {
      RC_LOG() << fmt::format("{}", fmt::join(witness.lines, "\n"));
      fail(program, final.registers, "the model `device`", "PTX");
    }
  }
  RC_TAG(std::string(explored.is_complete() ? "all states" : "cut"));
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome seen = run_on_device(program, layout, seed, weakness_of(seed));
    const std::string who = fmt::format("the device, seed {}, {} bytes and {} lanes apart,", seed,
                                        layout.distance, layout.lanes_apart);
    if (!allowed.contains(seen)) {
      fail(program, seen, who, "PTX");
    }
    if (explored.is_complete() && !shown.contains(seen)) {
      fail(program, seen, who, "the model `device`");
    }
  }
}

TEST_CASE("what the weak device shows of a random program its model has, and PTX allows") {
  CHECK(rc::check([] {
    for (int i = 0; i < kProgramsOfACase; ++i) {
      const auto shape = *rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>());
      const auto choices =
          *rc::gen::resize(14, rc::gen::container<std::vector<ProgramChoice>>(program_choices()));
      const KernelLayout layout{.distance = *rc::gen::element(4U, kDistanceOfGranules),
                                .lanes_apart = *rc::gen::element(1U, 32U)};
      check_program(program_of(shape, choices), layout);
    }
  }));
}

}  // namespace
}  // namespace barracuda::oracle
