#include "cli/arguments.h"

#include <catch2/catch.hpp>

namespace barracuda::cli {
namespace {

using Words = std::vector<std::string>;

RunCommand parsed_run(const Words& words, const std::string& environment = "") {
  Command command = parse_arguments(words, environment);
  if (const auto* const message = std::get_if<Message>(&command)) {
    INFO(message->text);
    REQUIRE(message == nullptr);
  }
  return std::get<RunCommand>(command);
}

Message message_of(const Words& words, const std::string& environment = "") {
  const Command command = parse_arguments(words, environment);
  REQUIRE(std::holds_alternative<Message>(command));
  return std::get<Message>(command);
}

std::string error_of(const Words& words, const std::string& environment = "") {
  const Message message = message_of(words, environment);
  CHECK(message.is_error);
  return message.text;
}

TEST_CASE("run takes a program after two dashes or by itself") {
  CHECK(parsed_run({"run", "--", "./app", "-x", "1"}).program == Words{"./app", "-x", "1"});
  CHECK(parsed_run({"run", "./app", "-x", "--json=3"}).program == Words{"./app", "-x", "--json=3"});
  CHECK(parsed_run({"run", "--strict", "./app"}).program == Words{"./app"});
  CHECK(parsed_run({"run", "--", "--odd-name"}).program == Words{"--odd-name"});
  CHECK(parsed_run({"run", "--", "sh", "--", "x"}).program == Words{"sh", "--", "x"});
}

TEST_CASE("doctor takes a program or none, and the options of the environment") {
  const auto doctor_of = [](const Words& words, const std::string& environment) {
    return std::get<DoctorCommand>(parse_arguments(words, environment));
  };
  CHECK(doctor_of({"doctor"}, "").program.empty());
  CHECK(doctor_of({"doctor", "--", "./app", "--device", "x"}, "").program ==
        Words{"./app", "--device", "x"});
  CHECK(doctor_of({"doctor", "./app"}, "").program == Words{"./app"});
  CHECK(doctor_of({"doctor"}, "device=cpu:jit-cache=none").options.jit_cache == "none");
  CHECK(doctor_of({"doctor", "--device", "gpu"}, "device=cpu").options.device == "gpu");
  CHECK(error_of({"doctor", "--device", "tpu"}).find("device") != std::string::npos);
  CHECK(error_of({"doctor"}, "no-option=1").find("BARRACUDA_OPTIONS") != std::string::npos);
  CHECK_FALSE(message_of({"doctor", "--help"}).is_error);
}

TEST_CASE("kernel takes a file, its shape and its arguments, and the options of run") {
  const Command good = parse_arguments(
      {"kernel", "/dev/null", "--kernel", "k", "--grid", "2,3", "--block", "64", "--shared", "128",
       "--arg", "u32=1", "--arg=s32=-1", "--cooperative", "--seed", "7"},
      "strict=1");
  REQUIRE(std::holds_alternative<KernelCommand>(good));
  const auto& kernel = std::get<KernelCommand>(good);
  CHECK(kernel.file == "/dev/null");
  CHECK(kernel.kernel == "k");
  CHECK(kernel.grid == std::array<std::uint32_t, 3>{2, 3, 1});
  CHECK(kernel.block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(kernel.shared_bytes == 128);
  CHECK(kernel.arguments == Words{"u32=1", "s32=-1"});
  CHECK(kernel.is_cooperative);
  CHECK(kernel.options.seed == 7);
  CHECK(kernel.options.strict);
  error_of({"kernel"});
  error_of({"kernel", "/dev/null", "--grid", "0"});
  error_of({"kernel", "/dev/null", "--grid", "1,2,3,4"});
}

TEST_CASE("merge takes reports, and what can be said of finished ones") {
  const Command command =
      parse_arguments({"merge", "a.json", "b.json", "--json", "x", "--update-baseline"}, "seed=1");
  REQUIRE(std::holds_alternative<MergeCommand>(command));
  const auto& merge = std::get<MergeCommand>(command);
  CHECK(merge.files == Words{"a.json", "b.json"});
  CHECK(merge.options.json == "x");
  CHECK(merge.options.update_baseline);
  CHECK_FALSE(merge.options.seed);
  error_of({"merge"});
  error_of({"merge", "a.json", "--seed", "1"});
  error_of({"merge", "a.json", "--severity", "none"});
}

TEST_CASE("replay takes a trace and the options that may be another run's") {
  const Command command = parse_arguments(
      {"replay", "app.trace", "--acquire=relaxed-spin", "--report-same-value", "--json", "x"},
      "nonsense");
  REQUIRE(std::holds_alternative<ReplayCommand>(command));
  const auto& replay = std::get<ReplayCommand>(command);
  CHECK(replay.file == "app.trace");
  REQUIRE(replay.options.size() == 3);
  CHECK(replay.options[0] == std::pair<std::string, std::string>("report-same-value", "true"));
  CHECK(replay.options[1] == std::pair<std::string, std::string>("acquire", "relaxed-spin"));
  CHECK(replay.options[2] == std::pair<std::string, std::string>("json", "x"));
  error_of({"replay"});
  error_of({"replay", "a", "b"});
  error_of({"replay", "a", "--acquire=never"});
  for (const char* const option : {"--seed", "--device=cpu", "--record=x", "--kernel-name"}) {
    const std::string text = error_of({"replay", "a", option, "1"});
    CHECK(text.find("belongs to the run that was recorded") != std::string::npos);
  }
  CHECK_FALSE(message_of({"replay", "--help"}).is_error);
}

TEST_CASE("every option of the table is a flag of run") {
  for (const OptionDescription& option : option_descriptions()) {
    if (option.name == "help") {
      continue;
    }
    const std::string value(!option.default_value.empty() ? option.default_value
                            : option.name == "log"        ? "debug"
                                                          : "7");
    INFO(option.name);
    CHECK(parsed_run({"run", "--" + std::string(option.name) + "=" + value, "--", "a"}).program ==
          Words{"a"});
  }
}

TEST_CASE("values come with an equals sign or as the next word") {
  const RunCommand command =
      parsed_run({"run", "--json", "a.json", "--seed=7", "--kernel-name=regex=a.*b", "./app"});
  CHECK(command.options.json == "a.json");
  CHECK(command.options.seed == 7U);
  CHECK(command.options.kernel_name == "regex=a.*b");
}

TEST_CASE("a flag is set by its name, or to a value") {
  CHECK(parsed_run({"run", "--strict", "--", "a"}).options.strict);
  CHECK(parsed_run({"run", "--strict=1", "--", "a"}).options.strict);
  CHECK_FALSE(parsed_run({"run", "--strict=0", "--", "a"}).options.strict);
  CHECK_FALSE(parsed_run({"run", "--reduce-in-block=no", "--", "a"}).options.reduce_in_block);
}

TEST_CASE("flags go before the environment, which goes before the defaults") {
  const RunCommand command =
      parsed_run({"run", "--seed=9", "--", "a"}, "seed=3:json='a:b.json':strict");
  CHECK(command.options.seed == 9U);
  CHECK(command.options.json == "a:b.json");
  CHECK(command.options.strict);
  CHECK(command.options.model == "ptx");
  CHECK_FALSE(parsed_run({"run", "--strict=0", "--", "a"}, "strict=1").options.strict);
}

TEST_CASE("the last of an option given twice counts") {
  CHECK(parsed_run({"run", "--seed=1", "--seed=2", "--", "a"}).options.seed == 2U);
}

TEST_CASE("an unknown option is an error that names the nearest") {
  CHECK(error_of({"run", "--jsn=x", "--", "a"})
            .find("unknown option '--jsn'; did you mean '--json'? (see") != std::string::npos);
  CHECK(error_of({"run", "-json=x", "--", "a"}).find("--json") != std::string::npos);
  CHECK(error_of({"run", "--frobnicate", "--", "a"}).find("unknown option '--frobnicate' (see") !=
        std::string::npos);
  CHECK(error_of({"run", "--", "a"}, "jsn=x").find("BARRACUDA_OPTIONS: unknown option 'jsn'") !=
        std::string::npos);
}

TEST_CASE("an impossible value is an error that says what is possible") {
  CHECK(error_of({"run", "--model=tso", "--", "a"}).find("model") != std::string::npos);
  CHECK(error_of({"run", "--seed=x", "--", "a"}).find("number") != std::string::npos);
  CHECK(error_of({"run", "--json", "--", "a"}).find("needs a value") != std::string::npos);
  CHECK(error_of({"run", "--json"}).find("needs a value") != std::string::npos);
  CHECK(error_of({"run", "--strict=perhaps", "--", "a"}).find("strict") != std::string::npos);
}

TEST_CASE("run without a program, and a program without run, are errors that help") {
  CHECK(error_of({"run"}).find("no program") != std::string::npos);
  CHECK(error_of({"run", "--strict", "--"}).find("no program") != std::string::npos);
  CHECK(error_of({"./app"}).find("barracuda run -- ./app") != std::string::npos);
  CHECK(error_of({}).find("run") != std::string::npos);
}

TEST_CASE("what is wrong with a command's flags names that command's help") {
  CHECK(error_of({"explore", "--memory-modle", "ptx", "a"}) ==
        "barracuda: unknown option '--memory-modle'; did you mean '--memory-model'? (see barracuda "
        "explore "
        "--help)\n");
  CHECK(error_of({"explore", "--states", "0", "a"}) ==
        "barracuda: --states: Value 0 not in range 1 to 1000000000000 (see barracuda explore "
        "--help)\n");
  CHECK(error_of({"explore"}).ends_with("(see barracuda explore --help)\n"));
  CHECK(error_of({"--modle"}).ends_with("(see barracuda --help)\n"));
}

TEST_CASE("help and version are messages, not errors") {
  for (const Words& words : {Words{"--help"}, Words{"help"}, Words{"run", "--help"},
                             Words{"help", "run"}, Words{"version"}, Words{"--version"}}) {
    const Message message = message_of(words);
    CHECK_FALSE(message.is_error);
    CHECK_FALSE(message.text.empty());
  }
  const std::string run_help = message_of({"run", "--help"}).text;
  for (const OptionDescription& option : option_descriptions()) {
    INFO(option.name);
    CHECK(run_help.find("--" + std::string(option.name)) != std::string::npos);
  }
  CHECK(run_help.find("Exit status of run:") != std::string::npos);
  CHECK(message_of({"extract", "--help"}).text.find("Exit status of run:") == std::string::npos);
  CHECK(message_of({"run"}, "help=1").text == options_help());
  CHECK(parsed_run({"run", "--", "a"}, "help=1").program == Words{"a"});
  CHECK(error_of({"help", "fly"}).find("no command 'fly'") != std::string::npos);
}

TEST_CASE("extract and instrument take a file and where to put the result") {
  const auto extract =
      std::get<ExtractCommand>(parse_arguments({"extract", "app", "-o", "folder"}, ""));
  CHECK(extract.file == "app");
  CHECK(extract.directory == "folder");
  const auto instrument =
      std::get<InstrumentCommand>(parse_arguments({"instrument", "a.ptx", "--sites"}, ""));
  CHECK(instrument.file == "a.ptx");
  CHECK(instrument.output.empty());
  CHECK(instrument.sites);
  CHECK(instrument.reduce_in_block);
  CHECK(error_of({"extract"}).find("FILE") != std::string::npos);
  CHECK_FALSE(std::get<InstrumentCommand>(
                  parse_arguments({"instrument", "a.ptx", "--reduce-in-block", "0"}, ""))
                  .reduce_in_block);
  CHECK(error_of({"instrument", "a.ptx", "--frob"}).find("--frob") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::cli
