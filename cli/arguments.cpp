#include "cli/arguments.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest_name.h"
#include "cli/command_parsers.h"
#include "cli/generated.h"
#include "cli/option_docs.h"
#include "cli/version.h"

namespace barracuda::cli {
namespace {

constexpr const char* kDescription =
    "Finds data races in CUDA programs, without recompiling them, on the GPU or without one.";

constexpr const char* kFooter =
    "Exit status of run: the program's own, or\n"
    "  66  findings: races, barrier divergence, memory errors (error-exitcode changes it)\n"
    "  67  not checked: no kernel was launched, static cudart without a driver, a kernel without\n"
    "      PTX on the emulated device, or, with --strict, incomplete coverage\n"
    "  64  bad option    70  the tool failed    126, 127  the program could not be started\n";

constexpr const char* kKernelFooter =
    "One --arg for each parameter, in order; a buffer is device memory:\n"
    "  u32=5  s64=-1  f32=0.5  b16=0x3c00            a scalar\n"
    "  u32[1024]  f32[64]=1.5  u32[4]=1,2,3,4        a buffer of zeros, of a value, of a list\n"
    "  @input.bin  u32@input.bin                     a buffer with the bytes of a file\n"
    "  …:print  …:save=result.bin                    what it holds after the launch\n"
    "  {u32=5;f32=1,2,3;u32[8]=1}                    a structure, aligned as in C: members may be\n"
    "                                                lists, buffers (pointers) and structures\n"
    "Types: u8 to u64, s8 to s64, b8 to b64 (hexadecimal), f32, f64.\n"
    "\n"
    "  barracuda kernel sum.cu --grid 4 --block 128 --arg 's32[512]=1' --arg 's32[4]:print'\n"
    "  barracuda kernel sum.ptx --kernel block_sum --arg @in.bin --arg 's32[4]:save=out.bin'\n";

constexpr const char* kRunFooter =
    "The same options can be given as BARRACUDA_OPTIONS=\"name=value:name=value\"; a flag here "
    "goes\n"
    "before the environment. To see source lines, build with nvcc -lineinfo. Without a GPU, build\n"
    "with nvcc -cudart shared.\n"
    "\n"
    "  barracuda run -- ./app input.dat\n"
    "  barracuda run --json=races.json --kernel-name='regex=reduce.*' -- ./app\n";

constexpr const char* kMergeFooter =
    "A FILE is what the option json has written, of one process (json=FILE.%p, or %q{RANK}) or of "
    "a\n"
    "run; a trace of the option record, which is replayed; or the folder that a killed run has "
    "left\n"
    "(barracuda-run-... in $TMPDIR). A bug of several is one finding, and says which ranks have "
    "it.\n"
    "\n"
    "  barracuda merge --json=all.json rank.*.json\n"
    "  barracuda merge rank.0.json rank.1.trace /tmp/barracuda-run-x4Rb2c\n";

constexpr const char* kReplayFooter =
    "Record with barracuda run --record=FILE, or BARRACUDA_OPTIONS=record=FILE. The report and "
    "the\n"
    "exit status are those of the recorded run, by its own options unless changed here;\n"
    "BARRACUDA_OPTIONS has no influence.\n"
    "\n"
    "  barracuda run --record=app.trace -- ./app input.dat\n"
    "  barracuda replay app.trace --acquire=relaxed-spin --json=races.json\n"
    "  barracuda replay app.trace --litmus slices/     and barracuda explore --races slices/*\n";

// What may be said when finished reports are merged: nothing of how they came about.
constexpr std::string_view kMergeOptions[] = {"severity",
                                              "json",
                                              "json-schema",
                                              "log-file",
                                              "html",
                                              "sarif",
                                              "junit",
                                              "format",
                                              "width",
                                              "frames",
                                              "demangle",
                                              "strip-paths",
                                              "print-limit",
                                              "suppressions",
                                              "library-suppressions",
                                              "generate-suppressions",
                                              "baseline",
                                              "update-baseline",
                                              "error-exitcode",
                                              "strict",
                                              "strict-libraries"};

// What may be different in a replay, besides. Everything else had its effect when the program ran.
constexpr std::string_view kDetectionOptions[] = {"model", "report-same-value", "acquire"};

bool is_merge_option(std::string_view name) {
  return std::ranges::find(kMergeOptions, name) != std::end(kMergeOptions);
}

bool is_replay_option(std::string_view name) {
  return is_merge_option(name) ||
         std::ranges::find(kDetectionOptions, name) != std::end(kDetectionOptions);
}

Message error(const std::string& text) {
  return {.text = "barracuda: " + text + "\n", .is_error = true};
}

const OptionDescription* find_option(std::string_view name) {
  const auto& all = option_descriptions();
  const auto found = std::ranges::find(all, name, &OptionDescription::name);
  return found == all.end() ? nullptr : &*found;
}

struct RunWords {
  std::vector<std::string> options;
  std::vector<std::string> program;
};

// Where the options of `run` end and the program begins: at `--`, or at the first word that is
// neither an option nor an option's value. The program's own words are not interpreted.
Expected<RunWords> split_run_words(std::span<const std::string> words) {
  RunWords split;
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with('-') && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    split.options.push_back(word);
    if (word == "-h" || word == "--help") {
      continue;
    }
    const std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const std::string key = name.substr(0, name.find('='));
    const OptionDescription* const option = word.starts_with("--") ? find_option(key) : nullptr;
    if (option == nullptr) {
      const std::string_view nearest = nearest_name(
          key, option_descriptions() | std::views::transform(&OptionDescription::name));
      return unexpected(
          {.message = fmt::format("unknown option '{}'", word.substr(0, word.find('='))) +
                      (nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest))});
    }
    if (option->type != "Flag" && name.find('=') == std::string::npos) {
      if (i + 1 == words.size() || words[i + 1] == "--") {
        return unexpected({.message = fmt::format("option {} needs a value: --{}=…", key, key)});
      }
      split.options.push_back(words[++i]);
    }
  }
  if (i < words.size() && words[i] == "--") {
    ++i;
  }
  split.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return split;
}

using Extent = std::array<std::uint32_t, 3>;

// Commands whose words are read elsewhere (command_parsers.h).
struct OwnParser {
  std::string_view name;
  const char* description;
  Command (*parse)(const std::vector<std::string>& words, const std::string& environment_options);
};

constexpr OwnParser kOwnParsers[] = {
    {.name = "expose", .description = kExposeDescription, .parse = parse_expose},
    {.name = "fix", .description = kFixDescription, .parse = parse_fix},
    {.name = "harden", .description = kHardenDescription, .parse = parse_harden},
    {.name = "litmus", .description = kLitmusDescription, .parse = parse_litmus},
    {.name = "tune", .description = kTuneDescription, .parse = parse_tune},
    {.name = "campaign", .description = kCampaignDescription, .parse = parse_campaign},
    {.name = "doctor", .description = kDoctorDescription, .parse = parse_doctor},
};

// The whole command line for CLI11, and where it puts what it reads.
class Parser {
 public:
  Parser() : app_(kDescription, "barracuda") {
    app_.set_version_flag("--version,-V", version_text());
    app_.set_help_flag("--help,-h", "print this help");
    declare_run();
    extract_ =
        app_.add_subcommand("extract", "list or save the PTX of an executable or fat binary");
    extract_->add_option("FILE", extract_command_.file, "executable, library or .fatbin")
        ->required();
    extract_->add_option("-o,--output", extract_command_.directory,
                         "folder to save each PTX image to");
    instrument_ = app_.add_subcommand("instrument", "print the instrumented form of a PTX file");
    instrument_->add_option("FILE", instrument_command_.file, "PTX text")->required();
    instrument_->add_option("-o,--output", instrument_command_.output,
                            "file to write (default: stdout)");
    instrument_->add_flag("--sites", instrument_command_.sites,
                          "print the instrumented instructions with their source lines instead");
    instrument_->add_option("--reduce-in-block", instrument_command_.reduce_in_block,
                            "do not log again what a log in the same basic block stands for (1)");
    declare_kernel();
    declare_replay();
    declare_merge();
    explore_ =
        app_.add_subcommand("explore", "every execution of a small program under a memory model");
    declare_explore(*explore_, explore_command_);
    declare_report_and_status();
    // For this list only: they have parsers of their own.
    for (const OwnParser& own : kOwnParsers) {
      app_.add_subcommand(std::string(own.name), own.description);
    }
    help_ = app_.add_subcommand("help", "print help on a command");
    // For the help text only: parse_arguments turns it into COMMAND --help.
    help_->add_option(
        "COMMAND", help_topic_,
        "run, doctor, kernel, expose, harden, fix, explore, litmus, tune, campaign, replay, merge, "
        "report, status, extract or instrument");
    help_->add_flag("--markdown", help_markdown_, "the options as a page of documentation");
    version_ =
        app_.add_subcommand("version", "print the version, the commit, and the versions of CUDA");
    app_.footer(kFooter);  // now, or each command would have it
  }

  Command parse(std::vector<std::string> words, const std::string& environment_options,
                std::vector<std::string> program) {
    const std::string command =
        words.empty() || words.front().starts_with('-') ? "" : words.front() + ' ';
    try {
      std::ranges::reverse(words);  // CLI11 takes them from the back
      app_.parse(words);
    } catch (const CLI::Success& success) {
      return help_or_version(success);
    } catch (const CLI::ParseError& problem) {
      const auto parsed = app_.get_subcommands();
      return error(fmt::format("{} (see barracuda {}--help)",
                               sentence_of(problem, parsed.empty() ? app_ : *parsed.front()),
                               command));
    }
    if (run_->parsed()) {
      return run_command(environment_options, std::move(program));
    }
    if (kernel_->parsed()) {
      return kernel_command(environment_options);
    }
    if (replay_->parsed()) {
      return replay_command();
    }
    if (report_->parsed()) {
      return report_command_;
    }
    if (status_->parsed()) {
      return status_command_;
    }
    if (merge_->parsed()) {
      return merge_command();
    }
    if (explore_->parsed()) {
      return explore_command_;
    }
    if (extract_->parsed()) {
      return extract_command_;
    }
    if (instrument_->parsed()) {
      return instrument_command_;
    }
    if (help_->parsed()) {
      return help();
    }
    if (version_->parsed()) {
      return Message{.text = version_text()};
    }
    return Message{.text = app_.help(), .is_error = true};
  }

 private:
  void declare_run() {
    run_ = app_.add_subcommand("run", "run a program under the race detector");
    // For the help text only: the program's words never get here (split_run_words).
    run_->add_option("PROGRAM", values_[""],
                     "the program and its arguments, after -- or by themselves")
        ->expected(-1);
    run_->footer(std::string(kRunFooter) + "\n" + kFooter);
    declare_options(*run_);
  }

  void declare_kernel() {
    kernel_ = app_.add_subcommand(
        "kernel", "launch one kernel of a .ptx or .cu file under the race detector");
    kernel_->footer(kKernelFooter);
    kernel_->add_option("FILE", kernel_command_.file, "PTX, or CUDA source where nvcc is found")
        ->required();
    kernel_->add_option("--kernel", kernel_command_.kernel,
                        "its name in the source or in the PTX (default: the only one)");
    const auto add_extent = [this](const char* name, Extent& extent, const char* text) {
      kernel_
          ->add_option_function<std::vector<std::uint32_t>>(
              name,
              [&extent](const std::vector<std::uint32_t>& given) {
                std::ranges::copy(given, extent.begin());
              },
              text)
          ->delimiter(',')
          ->expected(1, 3)
          ->check(CLI::Range(std::uint32_t{1}, std::numeric_limits<std::uint32_t>::max()))
          ->type_name("X[,Y[,Z]]");
    };
    add_extent("--grid", kernel_command_.grid, "blocks of the grid (default: 1)");
    add_extent("--block", kernel_command_.block, "threads of a block (default: 1)");
    kernel_->add_option("--shared", kernel_command_.shared_bytes,
                        "bytes of dynamic shared memory (default: 0)");
    kernel_->add_flag("--cooperative", kernel_command_.is_cooperative,
                      "a cooperative launch: all blocks are resident");
    kernel_->add_option("--arg", kernel_command_.arguments, "a parameter of the kernel, see below")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    kernel_->add_flag("--launch-here", kernel_command_.launches_here)->group("");
    declare_options(*kernel_);
  }

  void declare_replay() {
    replay_ = app_.add_subcommand("replay", "make the report of a recorded run again");
    replay_->footer(kReplayFooter);
    replay_->add_option("TRACE", replay_command_.file, "what the option record has written")
        ->required();
    replay_->add_option("--litmus", replay_command_.litmus,
                        "write the slice of a race as a litmus test to this file, or one of each "
                        "race into this folder (NAME/)");
    declare_options(*replay_);
  }

  void declare_report_and_status() {
    report_ = app_.add_subcommand("report", "the report of a run that was killed, from its folder");
    report_->add_option(
        "DIR", report_command_.directory,
        "barracuda-run-… in the folder for temporary files (default: the last one)");
    report_->add_option("--json", report_command_.json,
                        "write findings as JSON Lines to this file");
    report_->add_option("--log-file", report_command_.log_file,
                        "write the text report to this file instead of standard error");
    status_ = app_.add_subcommand("status", "what the runs that are under way have found so far");
    status_->add_option("DIR", status_command_.directory, "the folder of one run (default: all)");
  }

  void declare_merge() {
    merge_ = app_.add_subcommand("merge", "make one report of those of several processes");
    merge_->footer(kMergeFooter);
    merge_
        ->add_option("FILE", merge_command_.files, "a JSON report, a trace or the folder of a run")
        ->required();
    declare_options(*merge_);
  }

  void declare_options(CLI::App& command) {
    for (const OptionDescription& option : option_descriptions()) {
      if (option.name == "help" || (&command == replay_ && !is_replay_option(option.name)) ||
          (&command == merge_ && !is_merge_option(option.name))) {
        continue;  // --help is CLI11's
      }
      const std::string flag = "--" + std::string(option.name);
      const std::string text(option.help);
      std::string& value = values_[std::string(option.name)];
      if (option.type == "Flag") {
        command.add_flag(flag, value,
                         text + " (default: " + std::string(option.default_value) + ")");
      } else {
        command.add_option(flag, value, text)
            ->type_name(option.type == "Text" ? "TEXT" : "NUMBER")
            ->default_str(std::string(option.default_value))
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      }
    }
  }

  [[nodiscard]] std::array<const CLI::App*, 11> commands() const {
    return {run_,     kernel_,     replay_, merge_,   report_, status_,
            extract_, instrument_, help_,   version_, explore_};
  }

  [[nodiscard]] Message help_or_version(const CLI::Success& success) const {
    if (dynamic_cast<const CLI::CallForVersion*>(&success) != nullptr) {
      return {.text = version_text()};
    }
    for (const CLI::App* const command : commands()) {
      if (command->parsed()) {
        return {.text = command->help("barracuda")};
      }
    }
    return {.text = app_.help()};
  }

  [[nodiscard]] Message help() const {
    if (help_markdown_) {
      return {.text = options_as_markdown()};
    }
    return {.text = app_.help()};
  }

  // The options from the environment, overridden by the flags of `command`.
  Expected<Options> read_options(const CLI::App& command, const std::string& environment_options) {
    Options options;
    if (auto parsed = parse_options(options, environment_options); !parsed) {
      return unexpected({.message = "BARRACUDA_OPTIONS: " + parsed.error().message});
    }
    for (const auto& [name, value] : values_) {
      if (name.empty() || command.count("--" + name) == 0) {
        continue;
      }
      if (auto set = set_option(options, name, value); !set) {
        return unexpected(std::move(set).error());
      }
    }
    if (auto resolved = resolve_schedule(options); !resolved) {
      return unexpected(std::move(resolved).error());
    }
    return options;
  }

  Command run_command(const std::string& environment_options, std::vector<std::string> program) {
    auto options = read_options(*run_, environment_options);
    if (!options) {
      return error(options.error().message);
    }
    if (options->help && program.empty()) {
      return Message{.text = options_help()};
    }
    if (program.empty()) {
      return error("no program to run: barracuda run [options] -- ./app arguments");
    }
    return RunCommand{
        .options = std::move(*options), .program = std::move(program), .report_file = ""};
  }

  Command kernel_command(const std::string& environment_options) {
    auto options = read_options(*kernel_, environment_options);
    if (!options) {
      return error(options.error().message);
    }
    kernel_command_.options = std::move(*options);
    return kernel_command_;
  }

  Command replay_command() {
    for (const OptionDescription& option : option_descriptions()) {
      if (!is_replay_option(option.name) || replay_->count("--" + std::string(option.name)) == 0) {
        continue;
      }
      Options checked;
      const std::string& value = values_[std::string(option.name)];
      if (auto set = set_option(checked, option.name, value); !set) {
        return error(set.error().message);
      }
      replay_command_.options.emplace_back(option.name, value);
    }
    return replay_command_;
  }

  Command merge_command() {
    for (const std::string_view name : kMergeOptions) {
      if (merge_->count("--" + std::string(name)) == 0) {
        continue;
      }
      if (auto set = set_option(merge_command_.options, name, values_[std::string(name)]); !set) {
        return error(set.error().message);
      }
    }
    return merge_command_;
  }

  CLI::App app_;
  CLI::App* run_ = nullptr;
  CLI::App* kernel_ = nullptr;
  CLI::App* replay_ = nullptr;
  CLI::App* merge_ = nullptr;
  CLI::App* report_ = nullptr;
  CLI::App* status_ = nullptr;
  CLI::App* explore_ = nullptr;
  CLI::App* extract_ = nullptr;
  CLI::App* instrument_ = nullptr;
  CLI::App* help_ = nullptr;
  CLI::App* version_ = nullptr;
  std::map<std::string, std::string> values_;  // of flags, by option name
  ExtractCommand extract_command_;
  InstrumentCommand instrument_command_;
  KernelCommand kernel_command_;
  ReplayCommand replay_command_;
  MergeCommand merge_command_;
  ReportCommand report_command_;
  StatusCommand status_command_;
  ExploreCommand explore_command_;
  std::string help_topic_;
  bool help_markdown_ = false;
};

bool is_command(std::string_view word) {
  const std::vector<std::string> names = command_names();
  return std::ranges::find(names, word) != names.end();
}

std::string no_command(std::string_view word) {
  const std::vector<std::string> names = command_names();
  const std::string_view nearest = nearest_name(word, names);
  return fmt::format("there is no command '{}'", word) +
         (nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

// An option of the run that cannot be another one afterwards; null if there is none.
const OptionDescription* find_unchangeable(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word.starts_with("--")) {
      const std::string name = word.substr(2, word.find('=') - 2);
      const OptionDescription* const option = find_option(name);
      if (option != nullptr && name != "help" && !is_replay_option(name)) {
        return option;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names = {"run",    "kernel",  "explore",    "replay", "merge",  "report",
                                    "status", "extract", "instrument", "help",   "version"};
  for (const OwnParser& own : kOwnParsers) {
    names.emplace_back(own.name);
  }
  return names;
}

Command parse_arguments(const std::vector<std::string>& arguments,
                        const std::string& environment_options) {
  if (!arguments.empty() && arguments.front() == "--generate") {
    const auto text = generated(arguments.size() == 2 ? arguments.back() : "");
    return text ? Message{.text = *text} : error(text.error().message);
  }
  if (!arguments.empty() && !arguments.front().starts_with('-') && !is_command(arguments.front())) {
    return error(no_command(arguments.front()) + "; to check a program: barracuda run -- " +
                 arguments.front());
  }
  std::vector<std::string> words = arguments;
  std::vector<std::string> program;
  if (words.size() == 2 && words.front() == "help" && !words.back().starts_with('-')) {
    if (!is_command(words.back())) {
      return error(no_command(words.back()));
    }
    words = {words.back(), "--help"};
  }
  if (const auto* const own = std::ranges::find(
          kOwnParsers, words.empty() ? std::string_view() : words.front(), &OwnParser::name);
      own != std::end(kOwnParsers)) {
    return own->parse({words.begin() + 1, words.end()}, environment_options);
  }
  if (!arguments.empty() && arguments.front() == "run") {
    auto split = split_run_words(std::span(arguments).subspan(1));
    if (!split) {
      return error(split.error().message + " (see barracuda run --help)");
    }
    words = {"run"};
    words.insert(words.end(), split->options.begin(), split->options.end());
    program = std::move(split->program);
  }
  if (!arguments.empty() && arguments.front() == "replay") {
    if (const OptionDescription* const option = find_unchangeable(arguments)) {
      return error(
          fmt::format("option {} belongs to the run that was recorded: a replay cannot "
                      "change it (see barracuda replay --help)",
                      option->name));
    }
  }
  return Parser().parse(std::move(words), environment_options, std::move(program));
}

}  // namespace barracuda::cli
