#include "session/plan.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/file.h"
#include "base/number_text.h"
#include "base/percent_code.h"
#include "base/text_lines.h"
#include "base/text_words.h"
#include "ptx/fence_text.h"
#include "session/weak_log.h"

namespace barracuda::session {
namespace {

constexpr std::string_view kTitle = "barracuda-plan";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kLongestLine = 65'536;

// What a plan may set: how the memory is weak, and what runs when.
constexpr auto kPlanOptions =
    std::to_array<std::string_view>({"stale-reads", "late-loads", "coherence", "split-vectors",
                                     "weak-seed", "schedule", "shuffle"});

bool is_plan_option(std::string_view name) {
  return name.starts_with("delay-") || std::ranges::find(kPlanOptions, name) != kPlanOptions.end();
}

tl::unexpected<Diagnostic> wrong(std::string message) {
  return unexpected({.message = std::move(message)});
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

using Values = std::map<std::string, std::string, std::less<>>;

// key=value key=value, each key once.
Expected<Values> parse_values(std::string_view rest) {
  Values values;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    const std::size_t equals = word.find('=');
    auto value = percent_decoded(word.substr(std::min(equals, word.size() - 1) + 1));
    if (equals == word.npos || equals == 0 || !value) {
      return wrong(quote(word) + " is not key=value");
    }
    const std::string key(word.substr(0, equals));
    if (!values.emplace(key, std::move(*value)).second) {
      return wrong(quote(key) + " is said twice");
    }
  }
  return values;
}

// The value of a key, taken out.
Expected<std::string> take_value(Values& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) {
    return wrong(std::string(key) + "= is missing");
  }
  std::string value = std::move(found->second);
  values.erase(found);
  return value;
}

Expected<void> check_all_taken(const Values& values) {
  if (values.empty()) {
    return {};
  }
  return wrong(quote(values.begin()->first) + " is not known here");
}

Expected<ptx::Fence> take_fence(Values& values) {
  TRY(const std::string kind, take_value(values, "kind"));
  TRY(const std::string scope, take_value(values, "scope"));
  const auto order = ptx::fence_order(kind);
  const auto width = ptx::fence_scope(scope);
  if (!order) {
    return wrong(quote(kind) + " is no kind of a fence: sc or acq_rel");
  }
  if (!width) {
    return wrong(quote(scope) + " is no scope of a fence: cta, cluster, gpu or sys");
  }
  return ptx::Fence{.order = *order, .scope = *width};
}

Expected<ptx::OrderEdit> parse_fence(std::string_view rest) {
  TRY(Values values, parse_values(rest));
  ptx::OrderEdit edit;
  const auto place = std::ranges::find_if(values, [](const auto& entry) {
    return entry.first == "after" || entry.first == "before" || entry.first == "remove";
  });
  if (place == values.end()) {
    return wrong("a fence has after=, before= or remove=, each FUNCTION#STATEMENT");
  }
  const std::string word = place->first;
  TRY(const std::string name, take_value(values, word));
  TRY(edit.at, ptx::parse_statement_name(name));
  if (word == "remove") {
    edit.change = ptx::RemoveFence{};
  } else {
    TRY(const ptx::Fence fence, take_fence(values));
    edit.change = ptx::InsertFence{.fence = fence, .is_before = word == "before"};
  }
  if (auto checked = check_all_taken(values); !checked) {
    return unexpected(std::move(checked).error());
  }
  return edit;
}

// Reads what follows the first line.
class PlanReader {
 public:
  Expected<void> read(std::string_view line, std::uint32_t number) {
    std::string_view rest = line;
    const std::string_view word = take_word(rest);
    if (word == "program") {
      return set_once(plan_.program, std::string(trimmed(rest)), word);
    }
    if (word == "seed") {
      return read_seed(trimmed(rest));
    }
    if (word == "weakness") {
      return read_weakness(rest);
    }
    if (word == "decision") {
      TRY(emulator::Decision decision, parse_decision(line));
      plan_.decisions.push_back(std::move(decision));
      return {};
    }
    if (word == "fence") {
      TRY(ptx::OrderEdit edit, parse_fence(rest));
      plan_.fences.push_back({.edit = std::move(edit), .line = number});
      return {};
    }
    if (word == "expect") {
      return read_expectation(rest);
    }
    return wrong(quote(word) +
                 " begins no line of a plan: program, seed, weakness, decision, fence, expect");
  }

  Plan take() { return std::move(plan_); }

 private:
  static Expected<void> set_once(std::string& field, std::string value, std::string_view word) {
    if (!field.empty() || value.empty()) {
      return wrong(std::string(word) + (value.empty() ? " has no value" : " is said twice"));
    }
    field = std::move(value);
    return {};
  }

  Expected<void> read_seed(std::string_view text) {
    const auto seed = parse_number<std::uint64_t>(text);
    if (!seed) {
      return wrong(quote(text) + " is no seed: a number from 0 to 18446744073709551615");
    }
    if (plan_.seed) {
      return wrong("seed is said twice");
    }
    plan_.seed = seed;
    return {};
  }

  Expected<void> read_weakness(std::string_view rest) {
    TRY(Values values, parse_values(rest));
    for (auto& [name, value] : values) {
      if (!is_plan_option(name)) {
        return wrong(quote(name) + " is no option that says how memory is weak");
      }
      if (!plan_.weakness.emplace(name, std::move(value)).second) {
        return wrong(quote(name) + " is said twice");
      }
    }
    return {};
  }

  Expected<void> read_expectation(std::string_view rest) {
    TRY(Values values, parse_values(rest));
    Plan::Expectation expectation;
    TRY(expectation.failure, take_value(values, "failure"));
    if (values.contains("output-sha")) {
      TRY(expectation.output_sha, take_value(values, "output-sha"));
    }
    if (plan_.expectation) {
      return wrong("expect is said twice");
    }
    plan_.expectation = std::move(expectation);
    return check_all_taken(values);
  }

  Plan plan_;
};

Expected<void> check_title(std::string_view line) {
  std::string_view rest = line;
  if (take_word(rest) != kTitle) {
    return wrong("a plan begins with the line '" + std::string(kTitle) + " " +
                 std::string(kVersion) + "'");
  }
  const std::string_view version = trimmed(rest);
  if (version != kVersion) {
    return wrong("this is a plan of version " + quote(version) + "; this barracuda reads version " +
                 std::string(kVersion));
  }
  return {};
}

std::string fence_text(const ptx::OrderEdit& edit) {
  const auto* const insert = std::get_if<ptx::InsertFence>(&edit.change);
  if (insert == nullptr) {
    return fmt::format("fence remove={}\n", ptx::to_string(edit.at));
  }
  return fmt::format("fence {}={} kind={} scope={}\n", insert->is_before ? "before" : "after",
                     ptx::to_string(edit.at), ptx::word_of(insert->fence.order),
                     ptx::word_of(insert->fence.scope));
}

auto order_of(const emulator::Decision& decision) {
  const auto numbers = [](const emulator::Dim3& place) {
    return std::tuple(place.z, place.y, place.x);
  };
  return std::tuple(decision.launch, decision.kernel, numbers(decision.block),
                    numbers(decision.thread), decision.kind, decision.number);
}

}  // namespace

Expected<Plan> parse_plan(std::string_view text, const std::string& file) {
  PlanReader reader;
  bool has_title = false;
  TextLines lines(text);
  const auto failed = [&](std::string message) {
    return unexpected({.message = std::move(message),
                       .file = file,
                       .line = std::max(lines.number(), std::uint32_t{1})});
  };
  while (const auto next = lines.next()) {
    const std::string_view line = trimmed(*next);
    if (line.size() > kLongestLine) {
      return failed(fmt::format("a line of a plan has at most {} bytes", kLongestLine));
    }
    if (has_title && (line.empty() || line.starts_with('#'))) {
      continue;
    }
    auto read = has_title ? reader.read(line, lines.number()) : check_title(line);
    if (!read) {
      return failed(std::move(read).error().message);
    }
    has_title = true;
  }
  if (!has_title) {
    return failed(check_title("").error().message);
  }
  return reader.take();
}

std::string to_string(const Plan& plan) {
  std::string text = fmt::format("{} {}\n", kTitle, kVersion);
  if (!plan.program.empty()) {
    text += fmt::format("program {}\n", plan.program);
  }
  if (plan.seed) {
    text += fmt::format("seed {}\n", *plan.seed);
  }
  for (const auto& [name, value] : plan.weakness) {
    text += fmt::format("weakness {}={}\n", name, percent_encoded(value));
  }
  std::vector<emulator::Decision> decisions = plan.decisions;
  std::ranges::sort(decisions, {}, [](const emulator::Decision& one) { return order_of(one); });
  for (const emulator::Decision& decision : decisions) {
    text += decision_text(decision) + "\n";
  }
  std::vector<PlannedFence> fences = plan.fences;
  std::ranges::stable_sort(fences, {}, [](const PlannedFence& fence) { return fence.edit.at; });
  for (const PlannedFence& fence : fences) {
    text += fence_text(fence.edit);
  }
  if (plan.expectation) {
    text += fmt::format("expect failure={}", percent_encoded(plan.expectation->failure));
    if (!plan.expectation->output_sha.empty()) {
      text += fmt::format(" output-sha={}", percent_encoded(plan.expectation->output_sha));
    }
    text += "\n";
  }
  return text;
}

bool names_plan(const Options& options) {
  return !options.weakness.empty() && options.weakness != kBugaroo;
}

Expected<Plan> read_plan(const Options& options) {
  if (!names_plan(options)) {
    return Plan{};
  }
  const auto text = read_file(options.weakness);
  auto plan = text ? parse_plan(*text, options.weakness) : unexpected(text.error());
  if (!plan) {
    return unexpected({.message = "option weakness: " + plan.error().to_string()});
  }
  return plan;
}

Expected<void> take_plan(Options& options) {
  TRY(const Plan plan, read_plan(options));
  Options planned;
  for (const auto& [name, value] : plan.weakness) {
    if (const auto set = set_option(planned, name, value); !set) {
      return unexpected(
          {.message = "option weakness: " + options.weakness + ": " + set.error().message});
    }
  }
  // A schedule that the user chose and that has no seed is repeated without one.
  if (options.schedule == "auto" || options.schedule == "random") {
    planned.seed = plan.seed;
  }
  if (auto given = parse_options(planned, barracuda::to_string(options)); !given) {
    return given;
  }
  options = std::move(planned);
  return {};
}

}  // namespace barracuda::session
