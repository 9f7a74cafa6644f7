#include "cli/command_parsers.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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
    return Message{.text = fmt::format("barracuda: {} (see {} {} --help)\n", problem.what(),
                                       parents, app.get_name()),
                   .is_error = true};
  }
  return std::nullopt;
}

}  // namespace barracuda::cli
