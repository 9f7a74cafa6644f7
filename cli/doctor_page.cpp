#include "cli/doctor_page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "report/coverage.h"
#include "report/line_fold.h"

namespace barracuda::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kMargin = 12;  // of texts, behind the standing

std::string_view word_of(Standing standing) {
  switch (standing) {
    case Standing::kGood:
      return "ok";
    case Standing::kNote:
      return "note";
    case Standing::kObstacle:
      return "OBSTACLE";
  }
  return "";
}

std::string lines_of(const Fact& fact) {
  std::string text =
      report::folded(fmt::format("  {:<{}}{}\n", word_of(fact.standing), kMargin - 2, fact.text),
                     kColumns, kMargin - 2);
  if (!fact.cure.empty()) {
    text += report::folded(fmt::format("{:{}}cure: {}\n", "", kMargin, fact.cure), kColumns, 6);
  }
  return text;
}

}  // namespace

std::size_t obstacles_of(const std::vector<DoctorSection>& sections) {
  std::size_t count = 0;
  for (const DoctorSection& section : sections) {
    count += static_cast<std::size_t>(
        std::ranges::count(section.facts, Standing::kObstacle, &Fact::standing));
  }
  return count;
}

std::string doctor_page(const std::vector<DoctorSection>& sections) {
  std::string text;
  for (const DoctorSection& section : sections) {
    text += section.title + "\n";
    for (const Fact& fact : section.facts) {
      text += lines_of(fact);
    }
    text += "\n";
  }
  const std::size_t obstacles = obstacles_of(sections);
  return text + "BARRACUDA DOCTOR: " +
         (obstacles == 0 ? "nothing is in the way" : report::counted(obstacles, "obstacle")) + "\n";
}

}  // namespace barracuda::cli
