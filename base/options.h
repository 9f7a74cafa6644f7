// The options of a run (options.def lists them): parsed from
// BARRACUDA_OPTIONS="key=value:key='a:b'" or from flags of the same names. An unknown name or
// impossible value is a Diagnostic, never ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace barracuda {

// What the option weakness may be besides the name of a file.
inline constexpr std::string_view kBugaroo = "bugaroo";

struct Options {
  using Text = std::string;
  using Number = std::uint64_t;
  using OptionalNumber = std::optional<std::uint64_t>;
  using Flag = bool;
#define OPTION(name, field, type, default_value, help_text) type field = default_value;
#include "base/options.def"
#undef OPTION
};

struct OptionDescription {
  std::string_view name, type, default_value, help;
};

const std::vector<OptionDescription>& option_descriptions();
// The choices that a help text lists as " {a|b}"; none means any text.
std::vector<std::string_view> choices_in(std::string_view help);

// One option by name. A flag takes 1/0, true/false, yes/no, or an empty value for true.
Expected<void> set_option(Options& options, std::string_view name, std::string_view value);
// key=value:key=value, values quoted with '…' where they hold a colon ('' in quotes is one quote).
// Fills what is named; after an error nothing has changed.
Expected<void> parse_options(Options& options, std::string_view text);
// What `schedule` and `seed` say together; once all options are there.
Expected<void> resolve_schedule(Options& options);
// The names of the files that a report is written to; empty where it is not to be written.
std::vector<std::string*> report_files(Options& options);
// The program may change its folder before the files are written or read.
void make_paths_absolute(Options& options);
// A kernel that is not over after launch-timeout is ended.
bool ends_late_kernels(const Options& options);
// The inverse of parse_options, with quotes where needed; only what differs from the defaults.
// `run` hands options to its child this way.
std::string to_string(const Options& options);
// The table for help=1 and `run --help`.
std::string options_help();
// The file name with %p and %q{VAR} expanded, %% for a percent sign.
Expected<std::string> expand_file_name(std::string_view pattern);
// It has %p, or a %q{VAR} that is left to the processes: each has a file of its own.
bool names_process(std::string_view pattern);

}  // namespace barracuda
