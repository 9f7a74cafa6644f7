#include "cli/command_parsers.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest_name.h"

namespace barracuda::cli {

Message usage_error(const std::string& text, const std::string& command) {
  return {.text = fmt::format("barracuda: {} (see barracuda {} --help)\n", text, command),
          .is_error = true};
}

std::optional<Message> parse_flags(CLI::App& app, std::vector<std::string> flags,
                                   const std::string& parents) {
  std::ranges::reverse(flags);  // CLI11 takes them from the back
  try {
    app.parse(flags);
  } catch (const CLI::Success&) {
    return Message{.text = app.help(parents)};
  } catch (const CLI::ParseError& problem) {
    return Message{.text = fmt::format("barracuda: {} (see {} {} --help)\n",
                                       sentence_of(problem, app), parents, app.get_name()),
                   .is_error = true};
  }
  return std::nullopt;
}

std::string unknown_option(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    std::ranges::copy(option->get_lnames(), std::back_inserter(names));
  }
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  std::string_view nearest;
  if (name.starts_with("--")) {
    const std::string end = fmt::format("-{}", name.substr(2));
    const auto longer =
        std::ranges::find_if(names, [&](const std::string& each) { return each.ends_with(end); });
    nearest =
        longer != names.end() ? std::string_view(*longer) : nearest_name(name.substr(2), names);
  }
  return fmt::format("unknown option '{}'", name) +
         (nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest));
}

std::string sentence_of(const CLI::ParseError& problem, const CLI::App& app) {
  const std::string text = problem.what();
  const std::size_t at = text.rfind(": ");
  const bool is_option = dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr &&
                         at != std::string::npos && text.compare(at + 2, 1, "-") == 0;
  // Of several the first, which CLI11 names last.
  return is_option ? unknown_option(text.substr(std::max(text.rfind(' '), at + 1) + 1), app) : text;
}

}  // namespace barracuda::cli
