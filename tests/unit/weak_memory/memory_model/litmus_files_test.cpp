// The tests of tests/litmus/ under every model. Their first line has the verdicts:
//   // verdicts: MODEL VERDICT[/FINALS], ...
// 1: the condition with its quantifier holds; FINALS: different registers at the end. A model that
// is not named there refuses the test. `ends` is the verdict of termination under PTX; it is 1
// where it is not named.
#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "weak_memory/memory_model/litmus_reader.h"
#include "weak_memory/memory_model/models.h"
#include "weak_memory/memory_model/operational.h"
#include "weak_memory/memory_model/verdict.h"

namespace barracuda::memory_model {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(BARRACUDA_SOURCE_DIR "/tests/litmus")) {
    if (entry.path().extension() == ".litmus") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

// "1/81" by model.
std::map<std::string, std::string> verdicts_in(const std::string& text) {
  constexpr std::string_view kMark = "// verdicts:";
  REQUIRE(text.starts_with(kMark));
  std::map<std::string, std::string> verdicts;
  std::string line = text.substr(kMark.size(), text.find('\n') - kMark.size()) + ',';
  for (std::size_t end = line.find(','); end != std::string::npos; end = line.find(',')) {
    const std::string row = line.substr(1, end - 1);
    verdicts[row.substr(0, row.find(' '))] = row.substr(row.find(' ') + 1);
    line.erase(0, end + 1);
  }
  return verdicts;
}

std::set<Outcome> registers_of(const Exploration& found) {
  std::set<Outcome> registers;
  for (const auto& [final, witness] : found.finals) {
    registers.insert(final.registers);
  }
  return registers;
}

constexpr double kSlowest = 1;  // seconds of a processor: others may be at work beside

std::optional<Exploration> timed(const LitmusTest& test, Model model, bool reduce) {
  if (not_in_model(test, model)) {
    return std::nullopt;
  }
  const std::clock_t begin = std::clock();
  ExploreOptions options;
  options.reduce = reduce;
  Exploration found = explore(test, model, options);
  CHECK(found.is_complete());
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < kSlowest);
  return found;
}

constexpr std::array kModels = {Model::kSc,     Model::kWeak,  Model::kStrong,
                                Model::kDevice, Model::kPtx60, Model::kPtx75};
constexpr std::array kWithStates = {Model::kSc, Model::kWeak, Model::kStrong, Model::kDevice};

TEST_CASE("every litmus file has the verdict and the finals that its first line says") {
  for (const std::string& file : files()) {
    const std::string text = *read_file(file);
    const auto test = read_litmus(text, file);
    INFO(file);
    REQUIRE(test.has_value());
    const auto verdicts = verdicts_in(text);
    for (const Model model : kModels) {
      const auto found = timed(*test, model, true);
      const auto expected = verdicts.find(std::string(name_of(model)));
      INFO(name_of(model));
      REQUIRE(found.has_value() == (expected != verdicts.end()));
      if (!found) {
        continue;
      }
      const std::string is_met = condition_holds(*test, *found) ? "1" : "0";
      const bool has_count = expected->second.find('/') != std::string::npos;
      CHECK(expected->second ==
            (has_count ? fmt::format("{}/{}", is_met, registers_of(*found).size()) : is_met));
    }
  }
}

TEST_CASE(
    "what sequential consistency allows the device does, and what the device does PTX allows") {
  for (const std::string& file : files()) {
    const auto test = read_litmus(*read_file(file), file);
    INFO(file);
    // Through an alias without its fence a thread need not even see its own stores in order, but it
    // may.
    const std::set<Outcome> ordered = registers_of(explore(*test, Model::kSc, {}));
    const auto device = timed(*test, Model::kDevice, true);
    if (device) {
      CHECK(std::ranges::includes(registers_of(*device), ordered));
    }
    for (const Model model : {Model::kPtx60, Model::kPtx75}) {
      if (const auto found = timed(*test, model, true)) {
        CHECK(
            std::ranges::includes(registers_of(*found), device ? registers_of(*device) : ordered));
      }
    }
  }
}

TEST_CASE("with and without reduction a program ends in the same ways") {
  for (const std::string& file : files()) {
    const auto test = read_litmus(*read_file(file), file);
    INFO(file);
    for (const Model model : kWithStates) {
      if (not_in_model(*test, model)) {
        continue;
      }
      const auto reduced = timed(*test, model, true);
      const auto whole = timed(*test, model, false);
      CHECK(registers_of(*reduced) == registers_of(*whole));
      CHECK(reduced->states <= whole->states);
    }
  }
}

TEST_CASE("with symmetry, and nearest first, a program ends in the same ways") {
  for (const std::string& file : files()) {
    const auto test = read_litmus(*read_file(file), file);
    INFO(file);
    for (const Model model : kWithStates) {
      if (not_in_model(*test, model) || test->always) {
        continue;
      }
      const Exploration plain = explore(*test, model, {});
      ExploreOptions options;
      options.symmetry = true;
      const Exploration symmetric = explore(*test, model, options);
      options = {.shortest = true};
      const Exploration nearest = explore(*test, model, options);
      REQUIRE(registers_of(symmetric) == registers_of(plain));
      REQUIRE(registers_of(nearest) == registers_of(plain));
      for (const auto& [final, witness] : plain.finals) {
        CHECK(nearest.finals.at(final).lines.size() <= witness.lines.size());
      }
    }
  }
}

TEST_CASE("threads of a CTA that do the same are one another's likes") {
  const std::string rows =
      "{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 | P3@cta 1,gpu 0 ;\n"
      "st.weak x, 1 | st.weak x, 1 | st.weak x, 1 | st.weak x, 1 ;\n"
      "ld.weak r1, x | ld.weak r1, x | ld.weak r1, x | ld.weak r1, x ;\n";
  const auto test = read_litmus("PTX t\n" + rows + "exists (P0:r1 == 0)\n", "t");
  REQUIRE(test.has_value());
  CHECK(identical_threads(test->program) == std::vector<std::vector<std::size_t>>{{0, 1, 2}});
  ExploreOptions options;
  options.symmetry = true;
  for (const StateModel model : {StateModel::kSc, StateModel::kWeak, StateModel::kDevice}) {
    const Exploration plain = explore_states(*test, model, {});
    const Exploration symmetric = explore_states(*test, model, options);
    CHECK(registers_of(symmetric) == registers_of(plain));
    CHECK(symmetric.states < plain.states);
  }
}

TEST_CASE("in lock step the lanes of a warp pass a fence together") {
  ExploreOptions options;
  options.lockstep = true;
  const auto answer = [&](const std::string& between, StateModel model) {
    const auto test = read_litmus(
        "PTX magma\n{ shared s=1; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n"
        "mov r2, 0 | st.weak s, 3 ;\n" +
            between + "ld.weak r1, s | mov r2, 0 ;\nexists (P0:r1 == 1)\n",
        "t");
    REQUIRE(test.has_value());
    return condition_holds(*test, explore_states(*test, model, options));
  };
  for (const StateModel model : {StateModel::kWeak, StateModel::kStrong}) {
    CHECK(answer("", model));
    CHECK_FALSE(answer("fence.sc.cta | fence.sc.cta ;\n", model));
  }
  // There a warp's instruction is over before its next begins.
  CHECK_FALSE(answer("", StateModel::kSc));
}

TEST_CASE("a bound that was hit is said") {
  const std::string file = BARRACUDA_SOURCE_DIR "/tests/litmus/thesis/iriw_block.litmus";
  const auto test = read_litmus(*read_file(file), file);
  ExploreOptions options;
  options.states = 10;
  const Exploration found = explore_states(*test, StateModel::kWeak, options);
  CHECK_FALSE(found.is_complete());
  CHECK(found.bound == "10 states");
}

TEST_CASE("a search that is told to end ends, and says so") {
  const std::string file = BARRACUDA_SOURCE_DIR "/tests/litmus/thesis/iriw_block.litmus";
  const auto test = read_litmus(*read_file(file), file);
  for (const bool asks_of_end : {false, true}) {
    std::uint64_t asked = 0;
    ExploreOptions options;
    options.progress = asks_of_end;
    options.stops = [&asked] { return ++asked > 2; };
    CHECK(explore(*test, Model::kPtx75, options).bound == "0 s (interrupted)");
    CHECK(asked > 2);
  }
  const std::string large =
      BARRACUDA_SOURCE_DIR "/tests/litmus/thesis/coherence_classical_inter.litmus";
  ExploreOptions options;
  options.stops = [] { return true; };
  const Exploration found =
      explore_states(*read_litmus(*read_file(large), large), StateModel::kWeak, options);
  CHECK(found.bound == "0 s (interrupted)");
}

TEST_CASE("hashes of states and whole states tell the same states apart") {
  for (const std::string& file : files()) {
    const auto test = read_litmus(*read_file(file), file);
    if (not_in_model(*test, StateModel::kWeak)) {
      continue;
    }
    ExploreOptions options;
    const std::uint64_t hashed = explore_states(*test, StateModel::kWeak, options).states;
    options.exact = true;
    CHECK(explore_states(*test, StateModel::kWeak, options).states == hashed);
  }
}

TEST_CASE("a loop that exchanges a value for itself is passed once, and may go on for ever") {
  const auto lock = [](const std::string& unlock) {
    const std::string row =
        "L: atom.acquire.gpu.exch r0, l, 1 | L: atom.acquire.gpu.exch r0, l, 1 ;\n"
        "bne r0, 0, L | bne r0, 0, L ;\n";
    const auto test = read_litmus("PTX t\n{ l=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n" + row +
                                      unlock + "forall (P0:r0 == 0)\n",
                                  "t");
    REQUIRE(test.has_value());
    return *test;
  };
  const LitmusTest unlocked = lock("st.release.gpu l, 0 | st.release.gpu l, 0 ;\n");
  CHECK(explore(unlocked, Model::kPtx75, {}).is_complete());
  CHECK_FALSE(explore(unlocked, Model::kPtx75, {.progress = true}).violation.has_value());
  CHECK(explore(lock(""), Model::kPtx75, {.progress = true}).violation.has_value());
  // A plain store may come between what the exchange reads and what it writes.
  const LitmusTest plain = lock("st.weak l, 0 | st.weak l, 0 ;\n");
  CHECK(explore(plain, Model::kPtx75, {}).bound == "4 rounds of a loop");
}

TEST_CASE("a test that a model has not is sent to those that have it") {
  const auto answer = [](const std::string& rows, const std::string& condition, Model model) {
    const auto test =
        read_litmus("PTX t\n{ x=0; s @ surface aliases x; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n" +
                        rows + condition,
                    "t");
    REQUIRE(test.has_value());
    const auto missing = not_in_model(*test, model);
    REQUIRE(missing.has_value());
    return missing->message;
  };
  const std::string of_memory = "exists (x == 1)\n";
  CHECK(answer("suld r1, s | ;\n", "exists (P0:r1 == 1)\n", Model::kWeak) ==
        "model weak has no 'suld.weak r1, s'; this test can be asked of sc, ptx-7.5");
  CHECK(answer("bar.cta.sync 0 | bar.cta.sync 0 ;\n", of_memory, Model::kStrong) ==
        "model strong has no 'bar.cta.sync 0'; this test can be asked of sc, device, ptx-6.0, "
        "ptx-7.5");
  CHECK(answer("st.weak x, 1 | ;\n", of_memory, Model::kWeak) ==
        "model weak has no memory of which a condition could ask, only registers; this test can be "
        "asked of sc, device, ptx-6.0, ptx-7.5");
  CHECK(answer("bar.cta.sync 0 | ;\n", "always (x == 0)\n", Model::kWeak) ==
        "model weak has no 'bar.cta.sync 0'; this test can be asked of sc, device");
  CHECK(answer("suld r1, s | ;\n", "always (P0:r1 == 0)\n", Model::kPtx75) ==
        "model ptx-7.5 has no states of which 'always' could be asked; this test can be asked of "
        "sc");
}

TEST_CASE("an invariant of every state is held against those in between") {
  const std::string program =
      "PTX t\n{ x=0; }\nP0@cta 0,gpu 0 ;\nmov r1, 1 ;\nst.weak x, 1 ;\nmov r1, 0 ;\n";
  const auto broken = read_litmus(program + "always (P0:r1 == 0)\n", "t");
  REQUIRE(broken.has_value());
  CHECK(explore_states(*broken, StateModel::kSc, {}).violation.has_value());
  const auto kept = read_litmus(program + "always (P0:r1 != 2)\n", "t");
  CHECK_FALSE(explore_states(*kept, StateModel::kSc, {}).violation.has_value());
}

TEST_CASE("a spinning reader is a cycle of states, and ends") {
  const auto test = read_litmus(
      "PTX t\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
      "st.weak x, 1 | L: ld.weak r1, y ;\nfence.sc.gpu | beq r1, 0, L ;\n"
      "st.weak y, 1 | fence.sc.gpu ;\n | ld.weak r2, x ;\nexists (P1:r2 == 0)\n",
      "t");
  REQUIRE(test.has_value());
  for (const StateModel model :
       {StateModel::kSc, StateModel::kWeak, StateModel::kStrong, StateModel::kDevice}) {
    for (const bool reduce : {true, false}) {
      ExploreOptions options;
      options.reduce = reduce;
      const Exploration found = explore_states(*test, model, options);
      CHECK(found.is_complete());
      CHECK(registers_of(found) == std::set<Outcome>{{1, 1}});
    }
  }
}

}  // namespace
}  // namespace barracuda::memory_model
