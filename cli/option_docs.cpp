#include "cli/option_docs.h"

#include <fmt/format.h>

#include "base/options.h"

namespace barracuda::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '|') {
      result += '\\';
    }
    result += character;
  }
  return result;
}

}  // namespace

std::string options_as_markdown() {
  std::string text =
      "# Options\n"
      "\n"
      "<!-- Written by tools/generate_option_docs.sh from base/options.def. -->\n"
      "\n"
      "An option has one name everywhere. It is given in the environment,\n"
      "\n"
      "```sh\n"
      "BARRACUDA_OPTIONS=\"json=races.json:seed=7\" LD_PRELOAD=libbarracuda.so ./app\n"
      "```\n"
      "\n"
      "or as a flag of `barracuda run`, which goes before the environment:\n"
      "\n"
      "```sh\n"
      "barracuda run --json=races.json --seed 7 -- ./app\n"
      "```\n"
      "\n"
      "In `BARRACUDA_OPTIONS`, a value that holds a colon stands in single quotes\n"
      "(`kernel-name='regex=ns::.*'`; two quotes inside are one). A flag takes 1 or 0, true or "
      "false,\n"
      "yes or no; its bare name means 1. An unknown name or an impossible value is an error, exit\n"
      "status 64.\n"
      "\n"
      "| option | default | meaning |\n"
      "| --- | --- | --- |\n";
  for (const OptionDescription& option : option_descriptions()) {
    const std::string value =
        option.default_value.empty() ? "" : fmt::format("`{}`", option.default_value);
    text += fmt::format("| `{}` | {} | {} |\n", option.name, value, escaped(option.help));
  }
  return text;
}

}  // namespace barracuda::cli
