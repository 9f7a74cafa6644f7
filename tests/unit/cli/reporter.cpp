// A process that ends as a CUDA program under the tool does, for tests of `barracuda run` that need
// no device: reporter KIND [STATUS] [SECONDS] announces itself, waits, and reports a run of that
// kind.
#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "report/finish.h"
#include "tests/unit/report/samples.h"

int main(int argc, char** argv) {
  using namespace barracuda;  // NOLINT(google-build-using-namespace)
  const std::string kind = argc > 1 ? argv[1] : "clean";
  const int status = argc > 2 ? std::atoi(argv[2]) : 0;
  Options options;
  if (const char* const text = std::getenv("BARRACUDA_OPTIONS")) {
    if (!parse_options(options, text)) {
      return 99;
    }
  }
  report::Outlet outlet(options);
  outlet.announce();
  if (argc > 3) {
    usleep(static_cast<useconds_t>(std::atof(argv[3]) * 1e6));
  }
  if (kind == "lost") {
    _exit(status);
  }
  report::RunData run = report::samples::racy_run();
  if (kind != "race") {
    run.findings = {};
  }
  if (kind == "gap") {
    run.problems = {"3 records were malformed"};
  } else if (kind == "blocked") {
    run.blocked = {"a kernel without PTX was to run on the emulated device"};
  } else if (kind == "failed") {
    run.tool_failure = "no memory for queues";
  } else if (kind == "unused") {
    run = report::RunData{};
    run.used_cuda = true;
  }
  if (kind == "killed") {
    (void)outlet.update(report::samples::racy_run());
    (void)raise(status);
  }
  const report::Outcome outcome = outlet.finish(run);
  return outcome.change_status ? outcome.status : status;
}
