#include "weak_memory/ddmin.h"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool has_all(const std::vector<int>& part, const std::vector<int>& wanted) {
  return std::ranges::includes(part, wanted);
}

constexpr std::size_t kMany = 100'000;

}  // namespace

TEST_CASE("one element of many is found in few tests") {
  for (const int culprit : {0, 1, 499, 500, 999}) {
    std::size_t tests = 0;
    const auto part = ddmin<int>(
        numbers(1000),
        [&](const std::vector<int>& some) {
          ++tests;
          return has_all(some, {culprit});
        },
        kMany);
    CHECK(part == std::vector{culprit});
    CHECK(tests <= 20);
  }
}

TEST_CASE("elements that are needed together are found together") {
  const std::vector<int> wanted = {3, 40, 41, 99};
  CHECK(ddmin<int>(
            numbers(100), [&](const std::vector<int>& some) { return has_all(some, wanted); },
            kMany) == wanted);
  const std::vector<int> all = numbers(7);
  CHECK(ddmin<int>(all, [&](const std::vector<int>& some) { return some == all; }, kMany) == all);
}

TEST_CASE("of two causes one is left, and nothing that could be left out") {
  const auto part = ddmin<int>(
      numbers(64),
      [](const std::vector<int>& some) { return has_all(some, {5, 60}) || has_all(some, {30}); },
      kMany);
  CHECK((part == std::vector{30} || part == std::vector{5, 60}));
}

TEST_CASE("with too few tests what is left still shows it") {
  const std::vector<int> wanted = {3, 40, 99};
  std::size_t tests = 0;
  const auto part = ddmin<int>(
      numbers(100),
      [&](const std::vector<int>& some) {
        ++tests;
        return has_all(some, wanted);
      },
      10);
  CHECK(tests == 10);
  CHECK(has_all(part, wanted));
}

TEST_CASE("a single element, and none, are left as they are") {
  const auto never = [](const std::vector<int>&) -> bool { throw 1; };
  CHECK(ddmin<int>({4}, never, kMany) == std::vector{4});
  CHECK(ddmin<int>({}, never, kMany).empty());
}

}  // namespace barracuda::weak_memory
