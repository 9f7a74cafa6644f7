#include "session/stress_parameters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"

namespace barracuda::session {
namespace {

using stress::StressKind;
using stress::StressShape;

constexpr std::string_view kVersionLine = "barracuda-stress 1";
constexpr std::array kKinds = {std::pair(StressKind::kNone, std::string_view("none")),
                               std::pair(StressKind::kRandom, std::string_view("random")),
                               std::pair(StressKind::kSystematic, std::string_view("systematic")),
                               std::pair(StressKind::kCache, std::string_view("cache"))};

struct NumberField {
  std::string_view name;
  std::uint32_t StressShape::* field;
  std::uint32_t least, most;
};

constexpr std::array kFields = {
    NumberField{.name = "words", .field = &StressShape::words, .least = 64, .most = 1U << 28},
    NumberField{.name = "threads", .field = &StressShape::threads, .least = 1, .most = 1024},
    NumberField{.name = "patch", .field = &StressShape::patch, .least = 1, .most = 1U << 16},
    NumberField{.name = "spread", .field = &StressShape::spread, .least = 1, .most = 1U << 16},
    NumberField{.name = "stores", .field = &StressShape::stores, .least = 0, .most = 31},
    NumberField{.name = "length", .field = &StressShape::length, .least = 1, .most = 5},
};

std::optional<std::uint32_t> number_between(std::uint32_t least, std::uint32_t most,
                                            std::string_view text) {
  const auto number = parse_number<std::uint32_t>(text);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

// False: no such name, or another value.
bool take(StressParameters& parameters, std::string_view name, std::string_view value) {
  constexpr std::uint32_t kMostDistance = 1U << 16;
  if (name == "gpu" || name == "driver") {
    (name == "gpu" ? parameters.gpu : parameters.driver) = value;
    return true;
  }
  if (name == "stress") {
    const auto kind = stress_kind(value);
    parameters.stress.kind = kind.value_or(parameters.stress.kind);
    return kind.has_value();
  }
  if (name == "distance") {
    const auto number = number_between(1, kMostDistance, value);
    parameters.distance = number.value_or(parameters.distance);
    return number.has_value();
  }
  for (const NumberField& field : kFields) {
    if (field.name == name) {
      const auto number = number_between(field.least, field.most, value);
      parameters.stress.*field.field = number.value_or(parameters.stress.*field.field);
      return number.has_value();
    }
  }
  return false;
}

}  // namespace

std::string_view name_of(StressKind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<StressKind, std::string_view>::first)->second;
}

std::optional<StressKind> stress_kind(std::string_view name) {
  const auto* const found =
      std::ranges::find(kKinds, name, &std::pair<StressKind, std::string_view>::second);
  return found == kKinds.end() ? std::nullopt : std::optional(found->first);
}

std::string sequence_text(const StressShape& shape) {
  std::string text;
  for (std::uint32_t i = 0; i < shape.length;) {
    const bool is_store = (shape.stores >> i & 1) != 0;
    std::uint32_t alike = 1;
    while (i + alike < shape.length && ((shape.stores >> (i + alike) & 1) != 0) == is_store) {
      ++alike;
    }
    text += fmt::format("{}{}{}", i == 0 ? "" : " ", is_store ? "st" : "ld",
                        alike == 1 ? "" : std::to_string(alike));
    i += alike;
  }
  return text;
}

std::string to_string(const StressParameters& parameters) {
  std::string text =
      fmt::format("{}\ngpu {}\ndriver {}\ndistance {}\nstress {}\n", kVersionLine, parameters.gpu,
                  parameters.driver, parameters.distance, name_of(parameters.stress.kind));
  for (const NumberField& field : kFields) {
    text += fmt::format("{} {}\n", field.name, parameters.stress.*field.field);
  }
  return text;
}

Expected<StressParameters> parse_stress_parameters(std::string_view text, const std::string& file) {
  StressParameters parameters;
  for (std::uint32_t number = 1; number == 1 || !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto wrong = [&](std::string message) {
      return unexpected({.message = std::move(message), .file = file, .line = number});
    };
    if (number == 1) {
      if (line != kVersionLine) {
        return wrong(
            fmt::format("the first line of stress parameters is '{}'; barracuda tune "
                        "writes them anew",
                        kVersionLine));
      }
      continue;
    }
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || !take(parameters, line.substr(0, blank), line.substr(blank + 1))) {
      return wrong("no stress parameter has that form; barracuda tune writes them anew");
    }
  }
  const auto is_power_of_two = [](std::uint32_t words) { return (words & (words - 1)) == 0; };
  if (!is_power_of_two(parameters.stress.words) ||
      parameters.stress.patch > parameters.stress.words) {
    return unexpected({.message = "words is a power of two and no less than patch", .file = file});
  }
  return parameters;
}

}  // namespace barracuda::session
