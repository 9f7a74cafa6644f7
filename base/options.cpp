#include "base/options.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <type_traits>

#include "base/kernel_pattern.h"
#include "base/log.h"
#include "base/nearest_name.h"
#include "base/number_text.h"
#include "base/weak_values.h"

namespace barracuda {
namespace {

constexpr std::uint64_t kFewestQueueSlots = 128;
constexpr std::uint64_t kMostQueueSlots = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostExitStatus = 255;
constexpr std::uint64_t kMostThreads = 4096;
constexpr std::uint64_t kMostSeconds = 1'000'000;
constexpr std::uint64_t kMostDelayed = 4096;
constexpr std::uint64_t kMostStress = 1000;
constexpr std::uint64_t kFewestColumns = 40;
constexpr std::uint64_t kMostColumns = 10'000;

tl::unexpected<Diagnostic> impossible(std::string_view name, std::string_view value,
                                      const std::string& wanted) {
  return unexpected({.message = "option " + std::string(name) + ": '" + std::string(value) +
                                "' is not " + wanted});
}

// ---- values to text and back

std::string text_of(const Options::Text& value) {
  return value;
}

std::string text_of(const Options::Flag& value) {
  return value ? "1" : "0";
}

std::string text_of(const Options::Number& value) {
  return std::to_string(value);
}

std::string text_of(const Options::OptionalNumber& value) {
  return value ? std::to_string(*value) : "";
}

bool parse_value(std::string_view text, Options::Text& value) {
  value = text;
  return true;
}

bool parse_value(std::string_view text, Options::Flag& value) {
  constexpr std::string_view kTrue[] = {"", "1", "true", "yes", "on"};
  constexpr std::string_view kFalse[] = {"0", "false", "no", "off"};
  value = std::ranges::find(kTrue, text) != std::end(kTrue);
  return value || std::ranges::find(kFalse, text) != std::end(kFalse);
}

bool parse_value(std::string_view text, Options::Number& value) {
  const auto number = parse_prefixed_number<Options::Number>(text);
  value = number.value_or(value);
  return number.has_value();
}

bool parse_value(std::string_view text, Options::OptionalNumber& value) {
  return parse_value(text, value.emplace());
}

template <typename Value>
constexpr std::string_view wanted_form() {
  if constexpr (std::is_same_v<Value, Options::Flag>) {
    return "1 or 0 (true or false, yes or no)";
  } else {
    return "a number from 0 to 18446744073709551615";
  }
}

// A row of options.def: what describes the option, and its way from text into Options and back.
struct Row {
  std::string_view name, type, help, wanted;
  bool (*parse)(std::string_view text, Options& options);
  std::string (*text)(const Options& options);
};

template <auto kField>
constexpr Row row(std::string_view name, std::string_view type, std::string_view help) {
  using Value = std::remove_cvref_t<decltype(Options{}.*kField)>;
  return {.name = name,
          .type = type,
          .help = help,
          .wanted = wanted_form<Value>(),
          .parse = [](std::string_view text,
                      Options& options) { return parse_value(text, options.*kField); },
          .text = [](const Options& options) { return text_of(options.*kField); }};
}

constexpr Row kRows[] = {
#define OPTION(name, field, type, default_value, help_text) \
  row<&Options::field>(name, #type, help_text),
#include "base/options.def"
#undef OPTION
};

// ---- what the table's types do not say

Expected<void> check_choice(const Row& option, std::string_view value) {
  const auto choices = choices_in(option.help);
  if (option.type != "Text" || choices.empty() ||
      std::ranges::find(choices, value) != choices.end()) {
    return {};
  }
  std::string list;
  for (const std::string_view choice : choices) {
    list += (list.empty() ? "" : ", ") + std::string(choice);
  }
  return impossible(option.name, value, (choices.size() > 1 ? "one of " : "") + list);
}

Expected<void> check_limits(const Options& options, std::string_view name, std::string_view value) {
  if (name == "queue-slots" &&
      (!std::has_single_bit(options.queue_slots) || options.queue_slots < kFewestQueueSlots ||
       options.queue_slots > kMostQueueSlots)) {
    return impossible(name, value,
                      "a power of two from " + std::to_string(kFewestQueueSlots) + " to " +
                          std::to_string(kMostQueueSlots));
  }
  if (name == "error-exitcode" && options.error_exitcode > kMostExitStatus) {
    return impossible(name, value, "an exit status, from 0 to 255");
  }
  if (name == "launch-timeout" && options.launch_timeout > kMostSeconds) {
    return impossible(name, value, "a number from 0 to " + std::to_string(kMostSeconds));
  }
  if ((name == "workers" && options.workers > kMostThreads) ||
      (name == "detector-threads" && options.detector_threads > kMostThreads) ||
      (name == "queues" && options.queues > kMostThreads)) {
    return impossible(name, value, "a number from 0 to " + std::to_string(kMostThreads));
  }
  if (name == "stress-time" && (options.stress_time == 0 || options.stress_time > kMostStress)) {
    return impossible(name, value, "a number from 1 to " + std::to_string(kMostStress));
  }
  if (name == "drain-threads" &&
      (options.drain_threads == 0 || options.drain_threads > kMostThreads)) {
    return impossible(name, value, "a number from 1 to " + std::to_string(kMostThreads));
  }
  return {};
}

Expected<void> check_width(std::string_view value) {
  Options::Number columns = 0;
  const bool is_number = parse_value(value, columns);
  if (value == "auto" ||
      (is_number && (columns == 0 || (columns >= kFewestColumns && columns <= kMostColumns)))) {
    return {};
  }
  return impossible("width", value,
                    "auto, 0, or a number from " + std::to_string(kFewestColumns) + " to " +
                        std::to_string(kMostColumns));
}

// Of the options that make memory weak.
Expected<void> check_weakness(const Options& options, std::string_view name,
                              std::string_view value) {
  if ((name == "delay-stores" || name == "stale-reads" || name == "late-loads") &&
      !parse_probability(value)) {
    return impossible(name, value, "a probability from 0 to 1");
  }
  if (name == "delay-spaces" && !parse_spaces(value)) {
    return impossible(name, value, "global, shared or global,shared");
  }
  if (name == "delay-age" && !parse_ages(value)) {
    return impossible(name, value, "two numbers of turns, such as 1024,65536");
  }
  if (name == "delay-capacity" &&
      (options.delay_capacity == 0U || options.delay_capacity > kMostDelayed)) {
    return impossible(name, value, "a number from 1 to " + std::to_string(kMostDelayed));
  }
  return {};
}

Expected<void> check_value(const Options& options, const Row& option, std::string_view value) {
  if (auto choice = check_choice(option, value); !choice) {
    return choice;
  }
  if (option.name == "kernel-name" || option.name == "kernel-name-exclude" ||
      (option.name == "delay-kernel" && !value.empty())) {
    if (auto pattern = parse_kernel_pattern(value); !pattern) {
      return unexpected({.message = "option " + std::string(option.name) + ": " +
                                    std::move(pattern).error().message});
    }
    return {};
  }
  if (option.name == "log") {
    if (auto levels = parse_log_levels(value); !levels) {
      return unexpected({.message = "option log: " + std::move(levels).error().message});
    }
    return {};
  }
  if (option.name == "width") {
    return check_width(value);
  }
  if (auto weakness = check_weakness(options, option.name, value); !weakness) {
    return weakness;
  }
  return check_limits(options, option.name, value);
}

// ---- names

tl::unexpected<Diagnostic> unknown_option(std::string_view name) {
  std::string message = "unknown option '" + std::string(name) + "'";
  const std::string_view nearest = nearest_name(name, kRows | std::views::transform(&Row::name));
  if (!nearest.empty()) {
    message += "; did you mean '" + std::string(nearest) + "'?";
  }
  return unexpected({.message = message + " (help=1 lists the options)"});
}

const Row* find_option(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &Row::name);
  return found == std::end(kRows) ? nullptr : found;
}

// Reads one item of "key=value:key='a:b'" off the front of the text. Inside quotes a colon is a
// character, and two quotes are one.
struct Item {
  std::string name, value;
  bool has_value = false;
};

// "json=x log-file=y": a blank where the colon should be would become part of the value.
Expected<void> check_blank(const Item& item, std::string_view behind) {
  const std::size_t begin = std::min(behind.find_first_not_of(' '), behind.size());
  const std::string_view name = behind.substr(begin, behind.find_first_of("=: ", begin) - begin);
  if (find_option(name) == nullptr || !behind.substr(begin + name.size()).starts_with('=')) {
    return {};
  }
  const std::string other(name);
  return unexpected({.message = "option " + item.name + ": options are separated by colons, " +
                                item.name + "=…:" + other + "=… (or quote the value, " + item.name +
                                "='… " + other + "=…')"});
}

Expected<Item> take_item(std::string_view& text) {
  Item item;
  bool is_quoted = false;
  std::size_t position = 0;
  for (; position < text.size() && (is_quoted || text[position] != ':'); ++position) {
    const char character = text[position];
    if (!item.has_value && character == '=') {
      item.has_value = true;
    } else if (!item.has_value) {
      item.name += character;
    } else if (character != '\'') {
      if (character == ' ' && !is_quoted) {
        if (auto checked = check_blank(item, text.substr(position)); !checked) {
          return unexpected(std::move(checked).error());
        }
      }
      item.value += character;
    } else if (is_quoted && text.substr(position + 1).starts_with('\'')) {
      item.value += character;
      ++position;
    } else {
      is_quoted = !is_quoted;
    }
  }
  if (is_quoted) {
    return unexpected({.message = "option " + item.name + ": a quote (') is not closed"});
  }
  text.remove_prefix(std::min(position + 1, text.size()));
  return item;
}

std::string in_quotes(std::string_view value) {
  if (value.find_first_of(":' ") == value.npos) {
    return std::string(value);
  }
  std::string text = "'";
  for (const char character : value) {
    text += character;
    if (character == '\'') {
      text += character;
    }
  }
  return text + "'";
}

}  // namespace

// (%q{VAR} is no choice.)
std::vector<std::string_view> choices_in(std::string_view help) {
  std::vector<std::string_view> choices;
  const std::size_t open = help.find(" {");
  const std::size_t close = help.find('}', open);
  if (open == help.npos || close == help.npos) {
    return choices;
  }
  std::string_view rest = help.substr(open + 2, close - open - 2);
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    choices.push_back(rest.substr(0, bar));
    rest.remove_prefix(bar == rest.npos ? rest.size() : bar + 1);
  }
  return choices;
}

const std::vector<OptionDescription>& option_descriptions() {
  struct Table {
    std::vector<std::string> defaults;
    std::vector<OptionDescription> rows;
  };

  // Never destroyed: a guest process may ask for them when it exits.
  static const Table* const table = [] {
    auto* const made = new Table;
    for (const Row& option : kRows) {
      made->defaults.push_back(option.text(Options{}));
    }
    for (std::size_t index = 0; index < std::size(kRows); ++index) {
      made->rows.push_back({.name = kRows[index].name,
                            .type = kRows[index].type,
                            .default_value = made->defaults[index],
                            .help = kRows[index].help});
    }
    return made;
  }();
  return table->rows;
}

Expected<void> set_option(Options& options, std::string_view name, std::string_view value) {
  const Row* const option = find_option(name);
  if (option == nullptr) {
    return unknown_option(name);
  }
  Options changed = options;
  if (!option->parse(value, changed)) {
    return impossible(name, value, std::string(option->wanted));
  }
  if (auto checked = check_value(changed, *option, value); !checked) {
    return checked;
  }
  options = std::move(changed);
  return {};
}

Expected<void> parse_options(Options& options, std::string_view text) {
  Options changed = options;
  while (!text.empty()) {
    TRY(const Item item, take_item(text));
    if (item.name.empty() && !item.has_value) {
      continue;
    }
    const Row* const option = find_option(item.name);
    if (option != nullptr && option->type != "Flag" && !item.has_value) {
      return unexpected({.message = "option " + item.name + " needs a value: " + item.name + "=…"});
    }
    if (auto set = set_option(changed, item.name, item.value); !set) {
      return set;
    }
  }
  options = std::move(changed);
  return {};
}

Expected<void> resolve_schedule(Options& options) {
  const bool is_weak = parse_probability(options.delay_stores).value_or(0) > 0 ||
                       parse_probability(options.stale_reads).value_or(0) > 0 ||
                       parse_probability(options.late_loads).value_or(0) > 0;
  if (is_weak &&
      (options.seeds > 1 || options.schedule == "round-robin" || options.schedule == "reversed")) {
    return unexpected({.message =
                           "delay-stores, stale-reads and late-loads need the random schedule "
                           "and one run: leave out seeds, or say schedule=random"});
  }
  if (options.seeds > 1 &&
      (options.seed || options.schedule != "auto" || !options.record.empty())) {
    return unexpected({.message = "seeds=" + std::to_string(options.seeds) +
                                  " runs the program under several schedules: it goes with none of "
                                  "seed, schedule and record"});
  }
  if ((options.schedule == "round-robin" || options.schedule == "reversed") && options.seed) {
    return unexpected({.message = "schedule=" + options.schedule + " has no seed: leave out seed=" +
                                  std::to_string(*options.seed) + ", or say schedule=random"});
  }
  if ((options.schedule == "random" || is_weak) && !options.seed) {
    options.seed = 1;
  }
  return {};
}

bool ends_late_kernels(const Options& options) {
  return options.launch_timeout != 0 && options.at_launch_timeout == "end";
}

std::string to_string(const Options& options) {
  const Options defaults;
  std::string text;
  for (const Row& option : kRows) {
    const std::string value = option.text(options);
    if (value != option.text(defaults)) {
      text += (text.empty() ? "" : ":") + std::string(option.name) + "=" + in_quotes(value);
    }
  }
  return text;
}

std::string options_help() {
  std::size_t width = 0;
  for (const OptionDescription& option : option_descriptions()) {
    width = std::max(width, option.name.size() + option.default_value.size() + 1);
  }
  std::string text =
      "Options, as BARRACUDA_OPTIONS=\"name=value:name=value\" ('…' around a value that holds a\n"
      "colon) or as flags of `barracuda run`; shown with their defaults:\n";
  for (const OptionDescription& option : option_descriptions()) {
    std::string row = std::string(option.name) + "=" + std::string(option.default_value);
    row.resize(width + 2, ' ');
    text += "  " + row + std::string(option.help) + "\n";
  }
  return text;
}

}  // namespace barracuda
