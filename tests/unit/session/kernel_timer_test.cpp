#include "session/kernel_timer.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/session/host_memory_driver.h"

namespace barracuda::session {
namespace {

constexpr Handle kStream{7};

// Where a timer writes, and what it wrote.
struct Log {
  ScratchFolder folder;
  std::string file = folder / "execution.log";

  [[nodiscard]] KernelTime written() const {
    const auto log = parse_execution_log(read_file(file).value());
    REQUIRE(log);
    return log->time;
  }
};

}  // namespace

TEST_CASE("the launches of a process that are over are timed together") {
  HostMemoryDriver driver;
  const Log log;
  KernelTimer timer(driver, log.file);
  for (int i = 0; i < 3; ++i) {
    timer.end(timer.begin(kStream), kStream);
  }
  driver.passed = 4;  // both marks of two of them
  timer.close();
  timer.close();
  const KernelTime time = log.written();
  CHECK(time.launches == 2);
  CHECK(time.nanoseconds == 2000);
  CHECK_FALSE(time.millijoules);
  CHECK(driver.released == 4);
  CHECK(timer.begin(kStream) == Mark{});  // closed
}

TEST_CASE("the marks of many launches do not pile up, nor those of a context that has gone") {
  HostMemoryDriver driver;
  const Log log;
  KernelTimer timer(driver, log.file);
  for (int i = 0; i < 2000; ++i) {
    timer.end(timer.begin(kStream), kStream);
    driver.passed = driver.marks.load();
  }
  CHECK(driver.marks - driver.released <= 514);
  timer.end(timer.begin(kStream), kStream);
  timer.close_context(driver.current_context());
  CHECK(driver.marks == driver.released);
  timer.close();
  CHECK(log.written().launches == 2000);
}

TEST_CASE("energy is reported only if it was counted for long enough") {
  HostMemoryDriver driver;
  std::chrono::steady_clock::time_point now;
  const auto measured = [&](std::chrono::milliseconds window, std::optional<std::uint64_t> at_end) {
    const Log log;
    KernelTimer timer(driver, log.file, [&now] { return now; });
    driver.millijoules = 5000;
    timer.end(timer.begin(kStream), kStream);
    driver.passed = driver.marks.load();
    now += window;
    driver.millijoules = at_end;
    timer.close();
    return log.written();
  };
  CHECK(measured(KernelTimer::kLeastForEnergy, 5700).millijoules == 700);
  const KernelTime brief = measured(std::chrono::milliseconds(12), 5700);
  CHECK_FALSE(brief.millijoules);
  CHECK(brief.no_energy == "12 ms are too short for NVML's counter");
  CHECK(measured(KernelTimer::kLeastForEnergy, {}).no_energy ==
        "NVML does not tell that of this device");
  const Log log;
  KernelTimer idle(driver, log.file);
  idle.close();
  CHECK(log.written().no_energy == "no kernel was launched");
}

}  // namespace barracuda::session
