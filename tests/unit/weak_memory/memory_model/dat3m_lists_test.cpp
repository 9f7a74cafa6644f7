// Dat3M's tests for PTX, with its verdicts: an oracle that others wrote. They are read from a
// checkout of github.com/hernanponcedeleon/Dat3M that BARRACUDA_DAT3M names: its folder `litmus`,
// and lists of lines PATH,0|1 among the resources of its tests, or beside `litmus`.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "weak_memory/memory_model/litmus_reader.h"
#include "weak_memory/memory_model/models.h"
#include "weak_memory/memory_model/verdict.h"

namespace barracuda::memory_model {
namespace {

struct Row {
  std::string path;
  bool holds = false;
};

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const auto comma = line.rfind(','); comma != std::string_view::npos) {
      rows.push_back({.path = std::string(line.substr(0, comma)),
                      .holds = line.substr(comma + 1).starts_with('1')});
    }
  }
  return rows;
}

constexpr double kSlowestList = 120;  // seconds

using HasVerdict = std::function<bool(const LitmusTest&, bool holds)>;

void check_list(const std::string& list, std::size_t rows_expected, const HasVerdict& has_verdict) {
  const char* const folder = std::getenv("BARRACUDA_DAT3M");
  if (folder == nullptr) {
    WARN("skipped: BARRACUDA_DAT3M names no checkout of Dat3M");
    return;
  }
  const std::string beside = folder + ("/" + list);
  const std::string resource = folder + ("/dartagnan/src/test/resources/" + list);
  const auto text = read_file(std::filesystem::exists(resource) ? resource : beside);
  INFO((text ? "" : text.error().to_string()));
  REQUIRE(text.has_value());
  const std::vector<Row> rows = rows_of(*text);
  if (rows.size() != rows_expected) {
    WARN(list << " has " << rows.size() << " rows, not " << rows_expected << ": another version");
  }
  const auto begin = std::chrono::steady_clock::now();
  for (const Row& row : rows) {
    INFO(row.path);
    const auto test = read_file(folder + ("/" + row.path)).and_then([&](const std::string& file) {
      return read_litmus(file, row.path, Dialect::kDat3m);
    });
    INFO((test ? "" : test.error().to_string()));
    REQUIRE(test.has_value());
    CHECK(has_verdict(*test, row.holds));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < kSlowestList);
}

HasVerdict of_condition(Model model) {
  return [model](const LitmusTest& test, bool holds) {
    const Exploration found = explore(test, model, {});
    return found.is_complete() && condition_holds(test, found) == holds;
  };
}

HasVerdict of_termination(Model model) {
  return [model](const LitmusTest& test, bool always_ends) {
    const Exploration found = explore(test, model, {.progress = true});
    return found.is_complete() && !found.violation.has_value() == always_ends;
  };
}

TEST_CASE("PTX 6.0 has the verdicts of Dat3M's list") {
  check_list("PTXv6_0-expected.csv", 135, of_condition(Model::kPtx60));
}

TEST_CASE("PTX 7.5 has the verdicts of Dat3M's list") {
  check_list("PTXv7_5-expected.csv", 264, of_condition(Model::kPtx75));
}

TEST_CASE("PTX 6.0 has the verdicts of Dat3M's list of liveness") {
  check_list("PTXv6_0-Liveness-expected.csv", 91, of_termination(Model::kPtx60));
}

TEST_CASE("PTX 7.5 has the verdicts of Dat3M's list of liveness") {
  check_list("PTXv7_5-Liveness-expected.csv", 91, of_termination(Model::kPtx75));
}

}  // namespace
}  // namespace barracuda::memory_model
