#include "base/options.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

Options parsed(std::string_view text) {
  Options options;
  const auto result = parse_options(options, text);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return options;
}

std::string error_of(std::string_view text) {
  Options options;
  const auto result = parse_options(options, text);
  REQUIRE_FALSE(result);
  CHECK(to_string(options).empty());
  return result.error().message;
}

TEST_CASE("no options are the defaults") {
  const Options options = parsed("");
  CHECK(options.device == "auto");
  CHECK(options.error_exitcode == 66);
  CHECK_FALSE(options.seed.has_value());
  CHECK_FALSE(options.strict);
  CHECK(to_string(options).empty());
}

TEST_CASE("options are named, separated by colons, and set what they name") {
  const Options options = parsed("device=cpu:seed=7:strict=1:json=out.json:queue-slots=0x400:help");
  CHECK(options.device == "cpu");
  CHECK(options.seed == 7);
  CHECK(options.strict);
  CHECK(options.json == "out.json");
  CHECK(options.queue_slots == 1024);
  CHECK(options.help);
  CHECK(options.model == "ptx");
}

TEST_CASE("a later option wins, and empty items are nothing") {
  CHECK(parsed(":seed=1::seed=2:").seed == 2);
}

TEST_CASE("quotes keep colons together, and two quotes are one") {
  CHECK(parsed("json='a:b':seed=1").json == "a:b");
  CHECK(parsed("json=x'a:b'y").json == "xa:by");
  CHECK(parsed("json='it''s: here'").json == "it's: here");
  CHECK(parsed("kernel-name=regex='a::(b|c)'").kernel_name == "regex=a::(b|c)");
  CHECK(error_of("json='a:b") == "option json: a quote (') is not closed");
}

TEST_CASE("a blank in place of a colon is an error, not a part of the value") {
  CHECK_THAT(error_of("json=x log-file=y"),
             Catch::StartsWith("option json: options are separated by colons") &&
                 Catch::Contains("json=…:log-file=…"));
  CHECK_THAT(error_of("seed=7:json=x  strict=1"), Catch::Contains("json=…:strict=…"));
  CHECK(parsed("json='x log-file=y'").json == "x log-file=y");
  CHECK(parsed("json=my races=1.json").json == "my races=1.json");
  Options options;
  options.json = "x log-file=y";
  CHECK(parsed(to_string(options)).json == options.json);
}

TEST_CASE("paths are made absolute, also where a variable may hold their beginning") {
  ::setenv("BARRACUDA_TEST_FOLDER", "/folder", 1);
  ::setenv("BARRACUDA_TEST_NAME", "name", 1);
  Options options;
  options.json = "a/%p.json";
  options.log_file = "/b.txt";
  options.record = "%q{BARRACUDA_TEST_FOLDER}/c";
  options.suppressions = "%q{BARRACUDA_TEST_NAME}/d";
  make_paths_absolute(options);
  const std::string here = std::filesystem::current_path();
  CHECK(options.json == here + "/a/%p.json");
  CHECK(options.log_file == "/b.txt");
  CHECK(options.record == "%q{BARRACUDA_TEST_FOLDER}/c");
  CHECK(options.suppressions == here + "/%q{BARRACUDA_TEST_NAME}/d");
  options.jit_cache = "kept";
  make_paths_absolute(options);
  CHECK(options.jit_cache.starts_with('/'));
  options.jit_cache = "none";
  make_paths_absolute(options);
  CHECK(options.jit_cache == "none");
}

TEST_CASE("a value may hold an equals sign") {
  CHECK(parsed("kernel-name=regex=sum.*=").kernel_name == "regex=sum.*=");
}

TEST_CASE("a flag takes the usual words") {
  for (const char* const text : {"strict", "strict=", "strict=1", "strict=true", "strict=yes"}) {
    CHECK(parsed(text).strict);
  }
  for (const char* const text : {"strict=0", "strict=false", "strict=no"}) {
    CHECK_FALSE(parsed(std::string("strict=1:") + text).strict);
  }
  CHECK(error_of("strict=maybe") ==
        "option strict: 'maybe' is not 1 or 0 (true or false, yes or no)");
}

TEST_CASE("an unknown option is an error that suggests the nearest name") {
  CHECK(error_of("sed=1") ==
        "unknown option 'sed'; did you mean 'seed'? (help=1 lists the options)");
  CHECK(error_of("device=cpu:frobnicate=1") ==
        "unknown option 'frobnicate' (help=1 lists the options)");
  CHECK(error_of("=1") == "unknown option '' (help=1 lists the options)");
}

TEST_CASE("an impossible value is an error that names the option and the value") {
  CHECK(error_of("device=tpu") == "option device: 'tpu' is not one of auto, gpu, cpu");
  CHECK(error_of("device=") == "option device: '' is not one of auto, gpu, cpu");
  CHECK(error_of("device") == "option device needs a value: device=…");
  CHECK(error_of("model=sc") == "option model: 'sc' is not one of ptx, paper");
  for (const char* const text : {"seed=", "seed=x", "seed=1x", "seed=-1", "seed=+1", "seed= 1",
                                 "seed=0x", "seed=18446744073709551616"}) {
    CHECK_THAT(error_of(text),
               Catch::StartsWith("option seed: '") && Catch::EndsWith("is not a number from 0 to "
                                                                      "18446744073709551615"));
  }
  CHECK(parsed("seed=18446744073709551615").seed == 18446744073709551615U);
}

TEST_CASE("a number outside what the option allows is an error") {
  for (const char* const text :
       {"width=39", "width=wide", "width=10001", "frames=none", "demangle=no", "queue-slots=0",
        "queue-slots=64", "queue-slots=129", "queue-slots=134217728", "error-exitcode=256",
        "drain-threads=0", "workers=4097", "queues=4097", "detector-threads=4097",
        "launch-timeout=1000001"}) {
    CHECK_THAT(error_of(text), Catch::Contains("' is not "));
  }
  CHECK(parsed("error-exitcode=255").error_exitcode == 255);
  CHECK(parsed("queue-slots=128").queue_slots == 128);
  for (const char* const width : {"auto", "0", "40", "10000"}) {
    CHECK(parsed(std::string("width=") + width).width == width);
  }
}

TEST_CASE("what makes memory weak is checked, and brings a seed") {
  for (const char* const text :
       {"delay-stores=1.5",   "delay-stores=-0.1",   "delay-stores=x",
        "delay-stores=",      "stale-reads=2",       "late-loads=2",
        "delay-spaces=local", "delay-spaces=",       "delay-spaces=global,global",
        "delay-age=1",        "delay-age=0,1",       "delay-age=1,2,3",
        "delay-capacity=0",   "delay-capacity=4097", "delay-levels=warp",
        "coherence=none",     "split-vectors=2",     "stress=much",
        "stress-time=0",      "stress-time=1001",    "shuffle=cards",
        "weak-seed=x"}) {
    INFO(text);
    CHECK_THAT(error_of(text), Catch::Contains("' is not "));
  }
  CHECK_THAT(error_of("delay-kernel=regex=("), Catch::Contains("is not a regular expression"));
  for (const char* const text :
       {"delay-stores=0.25:delay-spaces=shared,global", "stale-reads=1", "late-loads=1"}) {
    Options options = parsed(text);
    REQUIRE(resolve_schedule(options));
    CHECK(options.seed == 1U);
  }
  Options strong = parsed("delay-stores=0");
  REQUIRE(resolve_schedule(strong));
  CHECK_FALSE(strong.seed);
  for (const char* const text :
       {"delay-stores=1:schedule=reversed", "stale-reads=1:seeds=4", "late-loads=1:seeds=4"}) {
    Options options = parsed(text);
    CHECK_FALSE(resolve_schedule(options));
  }
}

TEST_CASE("a kernel that is late is ended only on request, and never is without a timeout") {
  CHECK_FALSE(ends_late_kernels(parsed("launch-timeout=5")));
  CHECK(ends_late_kernels(parsed("at-launch-timeout=end")));
  CHECK_FALSE(ends_late_kernels(parsed("launch-timeout=0:at-launch-timeout=end")));
  CHECK(error_of("at-launch-timeout=stop") ==
        "option at-launch-timeout: 'stop' is not one of report, end");
}

TEST_CASE("a malformed pattern or log level is an error of its option") {
  CHECK_THAT(error_of("kernel-name=regex=("), Catch::Contains("is not a regular expression: "));
  CHECK(parsed("kernel-name=(").kernel_name == "(");
  CHECK_THAT(error_of("log=preload/loud"),
             Catch::StartsWith("option log: unknown log level 'loud'"));
}

TEST_CASE("one option at a time, as a flag of the command sets it") {
  Options options;
  REQUIRE(set_option(options, "json", "a:'b'"));
  CHECK(options.json == "a:'b'");
  REQUIRE(set_option(options, "strict", ""));
  CHECK(options.strict);
  REQUIRE_FALSE(set_option(options, "no-such", "1"));
  REQUIRE_FALSE(set_option(options, "queue-slots", "100"));
  CHECK(options.queue_slots == Options{}.queue_slots);
}

TEST_CASE("a random schedule has a seed, and one that takes turns has none") {
  const auto settled = [](const char* text) {
    Options options = parsed(text);
    const Expected<void> result = resolve_schedule(options);
    return result ? std::optional(options.seed) : std::nullopt;
  };
  using Seed = std::optional<std::uint64_t>;
  CHECK(settled("") == Seed{});
  CHECK(settled("seed=7") == Seed{7});
  CHECK(settled("schedule=random") == Seed{1});
  CHECK(settled("schedule=random:seed=7") == Seed{7});
  CHECK(settled("schedule=round-robin") == Seed{});
  CHECK_FALSE(settled("schedule=round-robin:seed=7").has_value());
  CHECK(settled("schedule=reversed") == Seed{});
  CHECK_FALSE(settled("schedule=reversed:seed=7").has_value());
  CHECK(settled("seeds=4") == Seed{});
  CHECK(settled("seeds=1:seed=7") == Seed{7});
  CHECK_FALSE(settled("seeds=4:seed=7").has_value());
  CHECK_FALSE(settled("seeds=4:schedule=reversed").has_value());
  CHECK_FALSE(settled("seeds=4:record=trace").has_value());
  CHECK_THAT(error_of("schedule=fair"), Catch::Contains("auto, round-robin, reversed, random"));
}

TEST_CASE("what options are written as parses to the same options") {
  for (const char* const text :
       {"", "device=cpu", "seed=0", "json='a:b''c':strict=1:print-limit=0",
        "kernel-name='regex=^ns::k$':log=preload/debug,session/info:reduce-in-block=0"}) {
    const std::string written = to_string(parsed(text));
    CHECK(written == to_string(parsed(written)));
    CHECK(written.size() == std::string_view(text).size());
  }
}

TEST_CASE("the table describes every option once, with its default") {
  const std::string help = options_help();
  for (const OptionDescription& option : option_descriptions()) {
    CHECK_THAT(help, Catch::Contains("  " + std::string(option.name) + "=" +
                                     std::string(option.default_value) + " "));
    CHECK_FALSE(option.help.empty());
    if (option.type != "OptionalNumber") {
      Options options;
      CHECK(set_option(options, option.name, option.default_value).has_value());
      CHECK(to_string(options).empty());
    }
  }
}

TEST_CASE("a file name may hold the process id and environment variables") {
  ::setenv("BARRACUDA_TEST_VARIABLE", "value", 1);
  CHECK(expand_file_name("plain.txt") == "plain.txt");
  CHECK(expand_file_name("a%p-%q{BARRACUDA_TEST_VARIABLE}.100%%") ==
        "a" + std::to_string(::getpid()) + "-value.100%");
}

TEST_CASE("a file name with the process id is another one for each process") {
  CHECK(names_process("trace-%p"));
  CHECK(names_process("%%%p"));
  CHECK_FALSE(names_process("100%%p"));
  CHECK(names_process("rank-%q{RANK}"));  // `run` has put in what it has itself
  CHECK_FALSE(names_process("%%q{RANK}"));
  CHECK_FALSE(names_process("%"));
  CHECK_FALSE(names_process(""));
}

TEST_CASE("a malformed file name is an error") {
  CHECK(expand_file_name("a%d").error().message ==
        "file name 'a%d': only %p, %q{VARIABLE} and %% may follow a percent sign");
  CHECK_FALSE(expand_file_name("a%"));
  CHECK(expand_file_name("%q{HOME").error().message ==
        "file name '%q{HOME': %q{ has no closing brace");
  CHECK(expand_file_name("%q{NO_SUCH_VARIABLE}").error().message ==
        "file name '%q{NO_SUCH_VARIABLE}': the environment variable 'NO_SUCH_VARIABLE' is not set");
}

}  // namespace
}  // namespace barracuda
