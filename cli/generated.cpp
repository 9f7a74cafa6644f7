#include "cli/generated.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/options.h"
#include "cli/arguments.h"
#include "cli/campaign_arguments.h"
#include "cli/campaign_tasks.h"

namespace barracuda::cli {
namespace {

constexpr const char* kOrigin = "written by barracuda --generate";
constexpr const char* kCampaign = "campaign";

// A line of a command's help, with those that belong to it.
struct FlagText {
  std::string names;  // "-o,--output"
  std::string text;   // all of its lines

  // "--output"
  [[nodiscard]] std::string flag() const { return names.substr(names.rfind(',') + 1); }

  // What it is, in the words of the help.
  [[nodiscard]] std::string meaning() const {
    const std::size_t end = text.find("  ", 2 + names.size());
    const std::size_t begin = std::min(text.find_first_not_of(" \n", end), text.size());
    const std::string rest = text.substr(begin);
    return rest.substr(0, rest.find('\n'));
  }
};

// The help of one command, in its parts.
struct CommandText {
  std::string name, description, usage;
  std::vector<FlagText> flags;
  std::string rest;  // what it says besides: its words, examples, exit statuses
};

bool is_option(const std::string& flag) {
  return std::ranges::any_of(option_descriptions(), [&](const OptionDescription& option) {
    return flag == fmt::format("--{}", option.name);
  });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// CLI11 writes a description, "Usage: …", groups of words and flags, and then what we say.
CommandText help_of(const std::vector<std::string>& words) {
  CommandText help{.name = fmt::format("{}", fmt::join(words, " ")),
                   .description = "",
                   .usage = "",
                   .flags = {},
                   .rest = ""};
  std::vector<std::string> asked = words;
  asked.emplace_back("--help");
  const Command parsed = parse_arguments(asked, "");
  const auto* const message = std::get_if<Message>(&parsed);
  bool is_in_flag = false;
  for (const std::string& line : lines_of(message == nullptr ? "" : message->text)) {
    if (help.usage.empty() && !line.starts_with("Usage: ")) {
      help.description += (help.description.empty() ? "" : " ") + line;
    } else if (line.starts_with("Usage: ")) {
      help.usage = line.substr(std::string_view("Usage: ").size());
    } else if (line.starts_with("  -")) {
      const std::size_t end = std::min(line.find(' ', 2), line.size());
      help.flags.push_back({.names = line.substr(2, end - 2), .text = line + "\n"});
      is_in_flag = true;
    } else if (is_in_flag && line.starts_with("          ")) {
      help.flags.back().text += line + "\n";
    } else {
      is_in_flag = false;
      const bool is_title = line == "Options:";
      help.rest += is_title || (line.empty() && help.rest.ends_with("\n\n")) ? "" : line + "\n";
    }
  }
  return help;
}

// A part of `campaign`: its help is its own program's, but for that of `write`.
CommandText help_of(const CampaignPart& part) {
  if (part.flags.empty()) {
    return help_of(std::vector<std::string>{kCampaign, std::string(part.name)});
  }
  CommandText help{.name = fmt::format("{} {}", kCampaign, part.name),
                   .description = std::string(part.description),
                   .usage = std::string(part.usage),
                   .flags = {},
                   .rest = ""};
  for (const CampaignFlag& flag : part.flags) {
    help.flags.push_back({.names = std::string(flag.names),
                          .text = fmt::format("  {:<26}  {}\n", flag.names, flag.meaning)});
  }
  return help;
}

// The parts of `campaign` behind it, as "campaign run".
std::vector<CommandText> all_commands() {
  std::vector<CommandText> commands;
  for (const std::string& name : command_names()) {
    commands.push_back(help_of(std::vector<std::string>{name}));
    if (name == kCampaign) {
      for (const CampaignPart& part : campaign_parts()) {
        commands.push_back(help_of(part));
      }
    }
  }
  return commands;
}

// ---- the manual page

// Text as troff takes it: a backslash and a hyphen mean something there, and so does a point or a
// quote that begins a line.
std::string troff(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char character : text) {
    if (begins_line && (character == '.' || character == '\'')) {
      result += "\\&";
    }
    result += character == '\\' ? "\\e" : character == '-' ? "\\-" : std::string(1, character);
    begins_line = character == '\n';
  }
  return result;
}

std::string verbatim(std::string_view text) {
  return fmt::format(".nf\n{}{}.fi\n", troff(text), text.ends_with('\n') ? "" : "\n");
}

std::string option_rows() {
  std::string text;
  for (const OptionDescription& option : option_descriptions()) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}{}\n", troff(fmt::format("--{}", option.name)),
                        option.type == "Flag" ? "" : "=\\fIVALUE\\fR", troff(option.help),
                        option.default_value.empty()
                            ? ""
                            : troff(fmt::format(" (default: {})", option.default_value)));
  }
  return text;
}

std::string section_of(const CommandText& command) {
  std::string own;
  std::string shared;
  for (const FlagText& flag : command.flags) {
    // A part of campaign has none of run's, though one has the same name.
    if (is_option(flag.flag()) && command.name.find(' ') == command.name.npos) {
      shared += (shared.empty() ? "" : ", ") + flag.flag();
    } else {
      own += flag.text;
    }
  }
  std::string text = fmt::format(".SS {}\n{}\n", troff(command.usage), troff(command.description));
  if (!own.empty() || !command.rest.empty()) {
    text += ".PP\n" + verbatim(own + command.rest);
  }
  if (!shared.empty() && command.name != "run") {
    text += fmt::format(".PP\nOptions of run that it takes: {}.\n", troff(shared));
  }
  return text;
}

std::string manual_page() {
  const std::vector<CommandText> commands = all_commands();
  std::string text = fmt::format(
      ".\\\" {}\n.TH BARRACUDA 1 \"\" \"barracuda {}\" \"User Commands\"\n"
      ".SH NAME\nbarracuda \\- finds data races in CUDA programs\n"
      ".SH SYNOPSIS\n.B barracuda\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\-\\-] "
      "[\\fIPROGRAM\\fR [\\fIARGUMENT\\fR]...]\n"
      ".SH DESCRIPTION\nFinds data races in CUDA programs, without recompiling them, on the GPU or "
      "without one.\n.SH COMMANDS\n",
      kOrigin, BARRACUDA_VERSION);
  for (const CommandText& command : commands) {
    text += fmt::format(".TP\n.B {}\n{}\n", command.name, troff(command.description));
  }
  text +=
      ".SH OPTIONS\nOf run, and of every other command that takes them. They can also be given as "
      "\\fBBARRACUDA_OPTIONS\\fR=\"name=value:name=value\"; a flag goes before the environment.\n";
  text += option_rows() + ".SH COMMANDS IN DETAIL\n";
  for (const CommandText& command : commands) {
    text += section_of(command);
  }
  return text +
         ".SH ENVIRONMENT\n.TP\n.B BARRACUDA_OPTIONS\nOptions, as above.\n.TP\n.B TMPDIR\nWhere "
         "findings are kept while a program runs.\n.TP\n.B NO_COLOR\nIf it is set, the report has "
         "no "
         "colour.\n"
         ".SH SEE ALSO\nshare/doc/barracuda/docs, above all REPORTS.md, beside the installed "
         "command.\n";
}

// ---- completion

// In single quotes, for a shell.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    result += character == '\'' ? std::string("'\\''") : std::string(1, character);
  }
  return result + "'";
}

// A pattern of `case`: one word.
std::string in_case(const std::string& name) {
  return name.find(' ') == std::string::npos ? name : in_quotes(name);
}

std::string flags_of(const CommandText& command) {
  std::string text;
  for (const FlagText& flag : command.flags) {
    text += (text.empty() ? "" : " ") + flag.flag();
  }
  return text;
}

std::string names_of_parts() {
  std::string text;
  for (const CampaignPart& part : campaign_parts()) {
    text += (text.empty() ? "" : " ") + std::string(part.name);
  }
  return text;
}

// "    --device) DO auto gpu cpu …;;" for each option with choices.
std::string choice_cases(const char* before, const char* behind) {
  std::string text;
  for (const CampaignPart& part : campaign_parts()) {
    for (const CampaignFlag& flag : part.flags) {
      if (!flag.choices.empty()) {
        text += fmt::format("    {}) {}{}{} ;;\n", flag.names, before, flag.choices, behind);
      }
    }
  }
  for (const OptionDescription& option : option_descriptions()) {
    if (const auto choices = choices_in(option.help); !choices.empty()) {
      text += fmt::format("    --{}) {}{}{} ;;\n", option.name, before, fmt::join(choices, " "),
                          behind);
    }
  }
  return text;
}

std::string bash_completion() {
  std::string text = fmt::format("# {} bash\n", kOrigin);
  text +=
      "_barracuda() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command= words= names= word i\n"
      "  COMPREPLY=()\n"
      "  # --option=value is three words here.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    if [[ $word == -- ]]; then\n"
      "      [[ $command == 'campaign write' ]] || return  # what follows is the program's\n"
      "      command='campaign write --'\n"
      "    elif [[ $word != -* && $word != = ]]; then\n"
      "      case $command in\n"
      "        '' | 'campaign write --') command=$word ;;\n"
      "        campaign) command=\"campaign $word\" ;;\n"
      "      esac\n"
      "    fi\n"
      "  done\n"
      "  case $previous in\n";
  text += choice_cases("COMPREPLY=($(compgen -W \"", "\" -- \"$current\")); return");
  text += "  esac\n  case $command in\n";
  text +=
      fmt::format("    '') names=\"{} --help --version\" ;;\n", fmt::join(command_names(), " "));
  text +=
      fmt::format("    'campaign write --') names=\"{}\" ;;\n", fmt::join(kDivisibleCommands, " "));
  for (const CommandText& command : all_commands()) {
    text +=
        command.name == kCampaign
            ? fmt::format("    {}) names=\"{} --help\" ;;\n", command.name, names_of_parts())
            : fmt::format("    {}) words=\"{}\" ;;\n", in_case(command.name), flags_of(command));
  }
  return text +
         "  esac\n"
         "  if [[ -n $names || $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$names $words\" -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o bashdefault -o default -F _barracuda barracuda\n";
}

// "'--device:where kernels run'": a name, and what it means.
std::string described(const std::string& name, const std::string& meaning) {
  return in_quotes(name + ":" + meaning);
}

// Those of the commands whose names begin with the prefix and have one word more; of these only
// some, if there is a list.
std::string command_choice(const std::string& pattern, std::span<const CommandText> commands,
                           const std::string& prefix, std::span<const std::string_view> only = {}) {
  std::string text = "    " + pattern + ")\n      commands=(\n";
  for (const CommandText& command : commands) {
    const std::string name =
        command.name.starts_with(prefix) ? command.name.substr(prefix.size()) : " ";
    if (name.find(' ') == name.npos &&
        (only.empty() || std::ranges::find(only, name) != only.end())) {
      text += "        " + described(name, command.description) + "\n";
    }
  }
  return text + "      )\n      _describe command commands\n      return ;;\n";
}

std::string zsh_completion() {
  std::string text = fmt::format("#compdef barracuda\n# {} zsh\n", kOrigin);
  text +=
      "_barracuda() {\n"
      "  local -a commands flags\n"
      "  local command=\n"
      "  integer i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    if [[ ${words[i]} == -- && $command == 'campaign write' ]]; then\n"
      "      command='campaign write --'\n"
      "    elif [[ ${words[i]} == -- ]]; then  # what follows is the program's\n"
      "      shift $i words\n"
      "      ((CURRENT -= i))\n"
      "      _normal\n"
      "      return\n"
      "    elif [[ ${words[i]} != -* ]]; then\n"
      "      case $command in\n"
      "        '' | 'campaign write --') command=${words[i]} ;;\n"
      "        campaign) command=\"campaign ${words[i]}\" ;;\n"
      "      esac\n"
      "    fi\n"
      "  done\n"
      "  case ${words[CURRENT - 1]} in\n";
  text += choice_cases("compadd -- ", "; return");
  text += "  esac\n  case $command in\n";
  const std::vector<CommandText> commands = all_commands();
  text += command_choice("''", commands, "");
  text += command_choice("'campaign write --'", commands, "", kDivisibleCommands);
  for (const CommandText& command : commands) {
    if (command.name == kCampaign) {
      text += command_choice(command.name, commands, command.name + " ");
      continue;
    }
    text += "    " + in_case(command.name) + ")\n      flags=(\n";
    for (const FlagText& flag : command.flags) {
      text += "        " + described(flag.flag(), flag.meaning()) + "\n";
    }
    text += "      ) ;;\n";
  }
  return text +
         "  esac\n"
         "  _describe -o option flags\n"
         "  _files\n"
         "}\n"
         "_barracuda \"$@\"\n";
}

}  // namespace

Expected<std::string> generated(std::string_view kind) {
  if (kind == "man") {
    return manual_page();
  }
  if (kind == "bash") {
    return bash_completion();
  }
  if (kind == "zsh") {
    return zsh_completion();
  }
  return unexpected({.message = "--generate takes one of man, bash, zsh"});
}

}  // namespace barracuda::cli
