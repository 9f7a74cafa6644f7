#include "cli/campaign_tasks.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <wordexp.h>

#include <fmt/format.h>

#include "base/text_lines.h"
#include "cli/arguments.h"

namespace barracuda::cli {
namespace {

constexpr std::uint64_t kTestsOneByOne = 1000;  // explore: as many tasks, at most, where none asks
constexpr std::uint64_t kRunsOfTask = 40;       // expose: as many as it makes by itself
// Between the first seeds of two tasks, where it is not known how many a task will use.
constexpr std::uint64_t kSeedsApart = 1'000'000;

Diagnostic wrong(std::string message) {
  return {.message = std::move(message)};
}

// As the command's own parser says it.
Expected<Command> parse(const CommandWords& words, const std::string& environment_options) {
  if (words.empty() ||
      std::ranges::find(kDivisibleCommands, words.front()) == std::end(kDivisibleCommands)) {
    return unexpected(wrong(
        fmt::format("'{}' is no command to divide: there are explore, expose, harden and litmus",
                    words.empty() ? "" : words.front())));
  }
  Command command = parse_arguments(words, environment_options);
  if (const auto* const message = std::get_if<Message>(&command)) {
    constexpr std::string_view kPrefix = "barracuda: ";
    std::string text = message->is_error ? message->text : words.front() + " has nothing to do";
    text.erase(std::min(text.find_last_not_of('\n') + 1, text.size()));
    return unexpected(wrong(text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text));
  }
  return command;
}

// Tasks that ran at the same time would write the same file.
template <typename Chosen>
bool names_output(const Chosen& command) {
  if constexpr (requires { command.json; }) {
    if (!command.json.empty()) {
      return true;
    }
  }
  if constexpr (requires { command.svg; }) {
    if (!command.dot.empty() || !command.svg.empty()) {
      return true;
    }
  }
  if constexpr (requires { command.plan; }) {
    if (!command.plan.empty()) {
      return true;
    }
  }
  if constexpr (requires { command.options.json; }) {
    if (!command.options.json.empty() || !command.options.log_file.empty()) {
      return true;
    }
  }
  return false;
}

Expected<void> check_output(const Command& command) {
  const bool names = std::visit([](const auto& chosen) { return names_output(chosen); }, command);
  if (names) {
    return unexpected(
        wrong("json, log-file, dot and plan cannot be chosen in a campaign: its folder has what "
              "each task writes, and barracuda campaign result makes one report of it"));
  }
  return {};
}

// Parts of 0 to `number`: part `part` of `parts` ends here.
std::uint64_t end_of_part(std::uint64_t number, std::uint64_t part, std::uint64_t parts) {
  return number / parts * (part + 1) + number % parts * (part + 1) / parts;
}

std::uint64_t begin_of_part(std::uint64_t number, std::uint64_t part, std::uint64_t parts) {
  return part == 0 ? 0 : end_of_part(number, part - 1, parts);
}

// The words without the tests. A test whose name is also a flag's value has to be written behind
// the flags.
CommandWords without_files(CommandWords words, const std::vector<std::string>& files) {
  std::size_t end = words.size();
  for (const std::string& file : std::ranges::reverse_view(files)) {
    while (end > 1 && words[end - 1] != file) {
      --end;
    }
    if (end > 1) {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(--end));
    }
  }
  return words;
}

Expected<std::vector<CommandWords>> divide_tests(const CommandWords& words,
                                                 const ExploreCommand& command, std::uint64_t tasks,
                                                 const std::string& environment_options) {
  const CommandWords flags = without_files(words, command.files);
  const std::uint64_t files = command.files.size();
  const std::uint64_t parts = std::min(files, tasks == 0 ? kTestsOneByOne : tasks);
  std::vector<CommandWords> divided;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto at = [&](std::uint64_t index) {
      return command.files.begin() + static_cast<std::ptrdiff_t>(index);
    };
    const std::vector<std::string> some(at(begin_of_part(files, part, parts)),
                                        at(end_of_part(files, part, parts)));
    CommandWords task = flags;
    task.insert(task.end(), some.begin(), some.end());
    const auto again = parse(task, environment_options);
    const auto* const explore = again ? std::get_if<ExploreCommand>(&*again) : nullptr;
    if (explore == nullptr || explore->files != some) {
      return unexpected(
          wrong("put the tests behind the flags of explore: they cannot be told "
                "from a flag's value here"));
    }
    divided.push_back(std::move(task));
  }
  return divided;
}

// The flags before the program, without those that each task gets its own of; then those, then the
// program.
CommandWords with_flags(const CommandWords& words, const std::vector<std::string>& program,
                        const std::vector<std::pair<std::string, std::string>>& own) {
  const std::size_t end = words.size() - program.size();
  CommandWords task = {words.front()};
  for (std::size_t i = 1; i < end && words[i] != "--"; ++i) {
    const auto is_own = [&](const auto& flag) {
      return words[i] == flag.first || words[i].starts_with(flag.first + "=");
    };
    const auto found = std::ranges::find_if(own, is_own);
    if (found == own.end()) {
      task.push_back(words[i]);
    } else if (words[i] == found->first && !found->second.empty()) {
      ++i;  // its value
    }
  }
  for (const auto& [flag, value] : own) {
    task.push_back(value.empty() ? flag : fmt::format("{}={}", flag, value));
  }
  task.emplace_back("--");
  task.insert(task.end(), program.begin(), program.end());
  return task;
}

// The random runs of all tasks are those of one expose, each with its seed and its probability:
// parts have whole turns of the probabilities.
std::vector<CommandWords> divide_runs(const CommandWords& words, const ExposeCommand& command,
                                      std::uint64_t tasks) {
  const std::uint64_t turn = command.probabilities.size();
  const std::uint64_t turns = (command.runs + turn - 1) / turn;
  const std::uint64_t wanted = tasks == 0 ? (command.runs + kRunsOfTask - 1) / kRunsOfTask : tasks;
  const std::uint64_t parts = std::min(turns, wanted);
  std::uint64_t seed = command.options.seed.value_or(1);
  std::vector<CommandWords> divided;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t runs = std::min(command.runs, turn * end_of_part(turns, part, parts)) -
                               turn * begin_of_part(turns, part, parts);
    const std::uint64_t directed =
        end_of_part(command.per_race, part, parts) - begin_of_part(command.per_race, part, parts);
    std::vector<std::pair<std::string, std::string>> own = {{"--seed", std::to_string(seed)},
                                                            {"--runs", std::to_string(runs)}};
    if (directed == 0) {
      own.emplace_back("--random", "");
      own.emplace_back("--per-race", "1");
    } else {
      own.emplace_back("--per-race", std::to_string(directed));
    }
    divided.push_back(with_flags(words, command.program, own));
    // Under stress it is not known here how many environments there are.
    seed += command.stress ? kSeedsApart : std::max(runs, directed);
  }
  return divided;
}

// Each task makes a part of the launches of all tests, with seeds of its own; where the number is
// left to the device, as many as one command would make.
Expected<std::vector<CommandWords>> divide_launches(const CommandWords& words,
                                                    const LitmusCommand& command,
                                                    std::uint64_t tasks,
                                                    const std::string& environment_options) {
  CommandWords ordered = without_files(words, command.files);
  ordered.insert(ordered.end(), command.files.begin(), command.files.end());
  const std::uint64_t wanted = std::max<std::uint64_t>(tasks, 1);
  const std::uint64_t parts = std::min<std::uint64_t>(wanted, command.launches.value_or(wanted));
  std::vector<CommandWords> divided;
  for (std::uint64_t part = 0; part < parts; ++part) {
    std::vector<std::pair<std::string, std::string>> own = {
        {"--seed", std::to_string(command.seed + part * kSeedsApart)}};
    if (command.launches) {
      own.emplace_back("--launches", std::to_string(end_of_part(*command.launches, part, parts) -
                                                    begin_of_part(*command.launches, part, parts)));
    }
    CommandWords task = with_flags(ordered, command.files, own);
    const auto again = parse(task, environment_options);
    const auto* const litmus = again ? std::get_if<LitmusCommand>(&*again) : nullptr;
    if (litmus == nullptr || litmus->files != command.files) {
      return unexpected(
          wrong("put the tests behind the flags of litmus: they cannot be told from a flag's value "
                "here"));
    }
    divided.push_back(std::move(task));
  }
  return divided;
}

template <typename Chosen>
std::vector<CommandWords> divide_seeds(const CommandWords& words, const Chosen& command,
                                       std::uint64_t tasks) {
  const std::uint64_t first = command.options.seed.value_or(1);
  std::vector<CommandWords> divided;
  for (std::uint64_t part = 0; part < std::max<std::uint64_t>(tasks, 1); ++part) {
    divided.push_back(with_flags(words, command.program,
                                 {{"--seed", std::to_string(first + part * kSeedsApart)}}));
  }
  return divided;
}

}  // namespace

Expected<std::vector<CommandWords>> divide(const CommandWords& words, std::uint64_t tasks,
                                           const std::string& environment_options) {
  TRY(const Command parsed, parse(words, environment_options));
  if (auto checked = check_output(parsed); !checked) {
    return unexpected(std::move(checked).error());
  }
  TRY(std::vector<CommandWords> divided,
      std::visit(
          [&](const auto& command) -> Expected<std::vector<CommandWords>> {
            using Chosen = std::remove_cvref_t<decltype(command)>;
            if constexpr (std::is_same_v<Chosen, ExploreCommand>) {
              return divide_tests(words, command, tasks, environment_options);
            } else if constexpr (std::is_same_v<Chosen, ExposeCommand>) {
              return divide_runs(words, command, tasks);
            } else if constexpr (std::is_same_v<Chosen, LitmusCommand>) {
              return divide_launches(words, command, tasks, environment_options);
            } else if constexpr (requires {
                                   command.options.seed;
                                   command.program;
                                 }) {
              return divide_seeds(words, command, tasks);
            } else {
              return unexpected(wrong(words.front() + " cannot be divided"));
            }
          },
          parsed));
  for (const CommandWords& task : divided) {
    if (auto again = parse(task, environment_options); !again) {
      return unexpected(std::move(again).error());
    }
  }
  return divided;
}

Expected<std::vector<CommandWords>> tasks_of_lines(const std::string& text, const std::string& file,
                                                   const std::string& environment_options) {
  std::vector<CommandWords> tasks;
  TextLines lines(text);
  while (const auto next = lines.next()) {
    std::string line(*next);
    std::erase(line, '\r');
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') {
      continue;
    }
    wordexp_t found{};
    if (wordexp(line.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF) != 0) {
      return unexpected({.message = "the words of a command are expected here, quoted as for a "
                                    "shell",
                         .file = file,
                         .line = lines.number()});
    }
    CommandWords words(found.we_wordv, found.we_wordv + found.we_wordc);
    wordfree(&found);
    if (!words.empty() && words.front() == "barracuda") {
      words.erase(words.begin());
    }
    const auto checked = parse(words, environment_options).and_then(check_output);
    if (!checked) {
      return unexpected({.message = checked.error().message, .file = file, .line = lines.number()});
    }
    tasks.push_back(std::move(words));
  }
  if (tasks.empty()) {
    return unexpected({.message = "there is no command in it", .file = file});
  }
  return tasks;
}

}  // namespace barracuda::cli
