#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

const std::string kCommand = BARRACUDA_COMMAND;
const std::string kReporter = BARRACUDA_REPORTER;
constexpr const char* kClean =
    "BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete\n";
constexpr const char* kNothing =
    "BARRACUDA SUMMARY: no kernel was launched (what is in the way: barracuda doctor -- ./app)\n";

ShellResult run(const std::string& words) {
  return shell(kCommand + " run " + words);
}

std::vector<nlohmann::json> json_lines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(*read_file(path));
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

TEST_CASE("a program without CUDA runs as ever, and run says that nothing was checked") {
  const ShellResult result = run("-- sh -c 'echo out; echo err >&2'");
  CHECK(result.status == 67);
  CHECK(run("-- sh -c 'exit 3'").status == 3);
  CHECK(result.output == "out\n");
  CHECK(result.errors == std::string("err\n") + kNothing);
}

TEST_CASE("a run says where its output is not the one that its plan expects") {
  const ScratchFolder folder;
  const std::string plan = folder / "plan";
  REQUIRE(write_file(plan,
                     "barracuda-plan 1\nexpect failure=output output-sha="
                     "54034ac5c6e9ea95734ec2b729fd6d62abf64af34a9f9ce5d466cb788191a73d\n"));
  const std::string command = "--device cpu --weakness " + plan + " -- sh -c ";
  const ShellResult same = run(command + "'echo out; echo err >&2; exit 3'");
  CHECK(same.status == 3);
  CHECK(same.output == "out\n");
  CHECK(same.errors == std::string("err\n") + kNothing);
  const ShellResult other = run(command + "'echo other; exit 3'");
  CHECK(other.status == 3);
  CHECK(other.output == "other\n");
  CHECK_THAT(other.errors, Catch::Contains(plan + ": the output is not the one"));
  // What a process left behind writes is nobody's; who reads only the beginning ends the program.
  CHECK(run(command + "'echo out; sleep 3 2>/dev/null & :'").output == "out\n");
  CHECK(
      shell(kCommand + " run " + command + "'while echo y; do :; done' 2>&1 | head -n 1").output ==
      "y\n");
}

TEST_CASE("a clean program keeps its status") {
  const ShellResult result = run("-- " + kReporter + " clean 5");
  CHECK(result.status == 5);
  CHECK(result.errors == kClean);
}

TEST_CASE("findings are printed once, by run, with status 66") {
  const ShellResult result = run(kReporter + " race");
  CHECK(result.status == 66);
  CHECK(result.errors.find("inter-block race") != std::string::npos);
  CHECK(
      result.errors.ends_with("BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 1/1 "
                              "instrumented, coverage complete\n"));
  CHECK(run("--error-exitcode=9 -- " + kReporter + " race").status == 9);
  CHECK(run("--error-exitcode=0 -- " + kReporter + " race 4").status == 4);
}

TEST_CASE("the whole process tree counts, also what outlives the program") {
  const ScratchFolder folder;
  const std::string json = folder / "races.json";
  const ShellResult result =
      run("--json=" + json + " -- sh -c '" + kReporter + " clean; " + kReporter + " race & " +
          kReporter + " race 0 0.3 & sleep 0.1; exit 2'");
  CHECK(result.status == 66);
  CHECK(result.errors.find("1 race (24 occurrences), kernels 1/1 instrumented") !=
        std::string::npos);
  // Of a finding that is said again, the last line stands.
  const auto lines = json_lines(json);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[lines.size() - 2]["type"] == "race");
  CHECK(lines[lines.size() - 2]["count"] == 24);
  CHECK(lines.back()["type"] == "summary");
  CHECK(lines.back()["races"] == 1);
}

TEST_CASE("a variable that only the program's processes have names a file of each") {
  const ScratchFolder folder;
  const ShellResult result = run("'--json=" + (folder / "rank-%q{BARRACUDA_TEST_RANK}.json") +
                                 "' -- sh -c 'BARRACUDA_TEST_RANK=0 " + kReporter +
                                 " race; BARRACUDA_TEST_RANK=1 " + kReporter + " clean'");
  CHECK(result.status == 66);
  CHECK(json_lines(folder / "rank-0.json").back()["races"] == 1);
  CHECK(json_lines(folder / "rank-1.json").back()["races"] == 0);

  const std::string pattern =
      "'--json=" + (folder / "%q{BARRACUDA_TEST_RANK}.json") + "' -- sh -c ";
  CHECK(shell("BARRACUDA_TEST_RANK=100%p " + kCommand + " run " + pattern + "'" + kReporter +
              " race; BARRACUDA_TEST_RANK=2 " + kReporter + " clean'")
            .status == 66);
  const auto merged = json_lines(folder / "100%p.json");
  REQUIRE(merged.size() == 2);
  CHECK(merged.back()["kernels"]["launched"] == 1);

  const ShellResult unset = run(pattern + "'" + kReporter + " race'");
  CHECK(unset.status == 70);
  CHECK(unset.errors.find("'BARRACUDA_TEST_RANK' is not set") != std::string::npos);
  const ShellResult launcher =
      run(pattern + "'" + kReporter + " unused; BARRACUDA_TEST_RANK=3 " + kReporter + " clean'");
  CHECK(launcher.status == 0);
  CHECK(json_lines(folder / "3.json").size() == 1);
  CHECK(run("'--json=%q{HOME' -- echo started").status == 64);
  CHECK(run("'--json=%q{BARRACUDA_TEST_RANK}%d' -- echo started").status == 64);
}

TEST_CASE("JSON is written also where there is nothing to report") {
  const ScratchFolder folder;
  CHECK(run("--json=" + (folder / "none.json") + " -- true").status == 67);
  const auto lines = json_lines(folder / "none.json");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["type"] == "summary");
}

TEST_CASE("what was not checked is 67, incomplete coverage only when strict") {
  CHECK(run("-- " + kReporter + " blocked").status == 67);
  CHECK(run("-- " + kReporter + " unused").status == 67);
  const ShellResult gap = run("-- " + kReporter + " gap");
  CHECK(gap.status == 0);
  CHECK(gap.errors.find("not covered: 3 records were malformed\n") != std::string::npos);
  CHECK(run("--strict -- " + kReporter + " gap").status == 67);
}

TEST_CASE("a failed tool is status 70") {
  const ShellResult result = run("-- " + kReporter + " failed");
  CHECK(result.status == 70);
  CHECK(result.errors.find("no memory for queues") != std::string::npos);
}

TEST_CASE("a process that ends without its report is named, never passed") {
  const ShellResult result = run("-- " + kReporter + " lost");
  CHECK(result.status == 67);
  CHECK(result.errors.find("(barracuda.test.reporter) ended before its last word") !=
        std::string::npos);
  CHECK(result.errors.find("coverage incomplete") != std::string::npos);
  const ShellResult killed =
      run("-- sh -c '(sleep 0.5; kill -KILL $$) & exec " + kReporter + " lost 0 5'");
  CHECK(killed.status == 128 + SIGKILL);
  CHECK(killed.errors.find("ended before its last word: signal 9 (Killed)") != std::string::npos);
}

TEST_CASE("what a killed process has found is reported, and how it ended") {
  const ScratchFolder folder;
  const std::string json = folder / "races.json";
  for (const int signal : {SIGKILL, SIGSEGV}) {
    const ShellResult result =
        run("--json=" + json + " -- " + kReporter + " killed " + std::to_string(signal));
    CHECK(result.status == 66);
    CHECK(result.errors.find("inter-block race") != std::string::npos);
    CHECK(result.errors.find("the program was ended by signal " + std::to_string(signal)) !=
          std::string::npos);
    CHECK(result.errors.find("coverage incomplete") != std::string::npos);
    const auto lines = json_lines(json);
    REQUIRE(lines.size() == 2);
    CHECK(lines[1]["signal"] == signal);
    CHECK(lines[1]["exit_status"] == 128 + signal);
  }
}

TEST_CASE("a program that takes too long is ended and reported about") {
  const ShellResult result = run("--time-limit=1 -- sh -c '" + kReporter + " race & sleep 60'");
  CHECK(result.status == 66);
  CHECK(result.errors.find("ended after 1 second (time-limit)") != std::string::npos);
  CHECK(run("--time-limit=1 -- sleep 60").status == 128 + SIGTERM);
}

TEST_CASE("what a killed run has found is read from its folder") {
  const ScratchFolder folder;
  const std::string temporary = "TMPDIR=" + folder.path() + " ";
  CHECK(shell(temporary + kCommand + " report").status == 64);
  CHECK(shell(temporary + kCommand + " report /nonexistent").status == 64);
  const ShellResult result =
      shell(temporary + kCommand + " run -- sh -c '" + kReporter + " race; sleep 0.1; " +
            temporary + kCommand + " status; kill -KILL $PPID'");
  CHECK(result.status == 128 + SIGKILL);
  CHECK(result.output.find("1 race (12 occurrences)") != std::string::npos);
  const std::string json = folder / "races.json";
  const ShellResult report = shell(temporary + kCommand + " report --json " + json);
  CHECK(report.status == 66);
  CHECK(report.errors.find("inter-block race") != std::string::npos);
  CHECK(report.errors.find("barracuda run was killed") != std::string::npos);
  CHECK(json_lines(json).size() == 2);
}

TEST_CASE("a bad option is status 64 and the program is not started") {
  const ShellResult result = run("--jsn=x -- echo started");
  CHECK(result.status == 64);
  CHECK(result.output.empty());
  CHECK(result.errors.find("did you mean '--json'?") != std::string::npos);
  CHECK(shell("BARRACUDA_OPTIONS=sede=1 " + kCommand + " run -- true").status == 64);
  CHECK(run("--suppressions=/nonexistent -- echo started").status == 64);
}

TEST_CASE("a report that cannot be written is status 70") {
  const ShellResult missing = run("--json=/nonexistent/x.json -- echo started");
  CHECK(missing.status == 70);
  CHECK(missing.output.empty());
  CHECK(missing.errors.find("/nonexistent/x.json") != std::string::npos);
  const ShellResult full = run("--json=/dev/full -- " + kReporter + " race");
  CHECK(full.status == 70);
  CHECK(full.errors.find("/dev/full") != std::string::npos);
  CHECK(full.errors.find("inter-block race") != std::string::npos);
}

TEST_CASE("a program that cannot be started is 127 or 126, as in a shell") {
  const ShellResult missing = run("-- ./no-such-program");
  CHECK(missing.status == 127);
  CHECK(missing.errors == "barracuda: ./no-such-program: No such file or directory\n");
  CHECK(run("-- /etc/passwd").status == 126);
}

TEST_CASE("options from the environment reach the program") {
  const ShellResult result = shell("BARRACUDA_OPTIONS=seed=3:strict " + kCommand +
                                   " run --strict=0 --queues=2 -- sh -c 'echo $BARRACUDA_OPTIONS'");
  CHECK(result.output == "seed=3:queues=2\n");
}

TEST_CASE("relative file names mean run's folder, wherever the program goes") {
  const ScratchFolder folder;
  const ShellResult result =
      shell("cd " + folder.path() + " && " + kCommand +
            " run --json=r.json --log-file=log.%p -- sh -c 'cd /; " + kReporter + " race'");
  CHECK(result.status == 66);
  CHECK(read_file(folder / "r.json").has_value());
  CHECK(result.errors.starts_with("BARRACUDA SUMMARY: 1 race"));
  CHECK(shell("cat " + (folder / "log.*")).output.find("inter-block race") != std::string::npos);
}

TEST_CASE("another preloaded library stays, and so does the library path") {
  const ShellResult result = shell("LD_PRELOAD=libm.so.6 LD_LIBRARY_PATH=/usr/lib " + kCommand +
                                   " run -- sh -c 'echo $LD_PRELOAD; echo $LD_LIBRARY_PATH'");
  CHECK(result.output.find("libbarracuda.so:libm.so.6\n") != std::string::npos);
  CHECK(result.output.ends_with("/usr/lib\n"));
}

TEST_CASE("the run's temporary folder is gone afterwards") {
  const ShellResult result = run("-- sh -c 'echo $BARRACUDA_RUN_DIRECTORY'");
  REQUIRE(result.output.size() > 1);
  const std::string folder = result.output.substr(0, result.output.size() - 1);
  CHECK(folder.ends_with("/reports"));
  CHECK(access(folder.c_str(), F_OK) != 0);
}

// `run` in a session of its own, as a terminal or a CI service starts it. The program counts its
// interrupts in `hits`, and says in `ready` when it can.
pid_t start_counting_program(const ScratchFolder& folder) {
  const std::string program = "trap 'echo hit >>" + (folder / "hits") + "' INT; touch " +
                              (folder / "ready") +
                              "; for i in 1 2 3 4 5 6; do sleep 0.1; done; exit 4";
  const pid_t process = fork();
  if (process == 0) {
    setsid();
    (void)signal(SIGINT, SIG_DFL);
    const int file = open((folder / "errors").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, STDERR_FILENO);
    execl(kCommand.c_str(), kCommand.c_str(), "run", "--", "sh", "-c", program.c_str(), nullptr);
    _exit(127);
  }
  while (access((folder / "ready").c_str(), F_OK) != 0) {
    usleep(10000);
  }
  return process;
}

TEST_CASE("an interrupt reaches the program once, and run still reports") {
  const ScratchFolder folder;
  const pid_t process = start_counting_program(folder);
  SECTION("sent to run alone") {
    kill(process, SIGINT);
  }
  SECTION("sent to its process group") {
    kill(-process, SIGINT);
  }
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
  CHECK(*read_file(folder / "hits") == "hit\n");
  CHECK(*read_file(folder / "errors") == kNothing);
}

}  // namespace
}  // namespace barracuda::cli
