#include "session/kernel_timer.h"

#include <cstdio>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/session/host_memory_driver.h"

namespace barracuda::session {
namespace {

const std::string kFile = "kernel_timer_test.log";
constexpr Handle kStream{7};

KernelTime written() {
  const auto log = parse_execution_log(read_file(kFile).value());
  REQUIRE(log);
  std::remove(kFile.c_str());
  return log->time;
}

}  // namespace

TEST_CASE("the launches of a process that are over are timed together") {
  HostMemoryDriver driver;
  KernelTimer timer(driver, kFile);
  for (int i = 0; i < 3; ++i) {
    timer.end(timer.begin(kStream), kStream);
  }
  driver.passed = 4;  // both marks of two of them
  timer.close();
  timer.close();
  const KernelTime time = written();
  CHECK(time.launches == 2);
  CHECK(time.nanoseconds == 2000);
  CHECK_FALSE(time.millijoules);
  CHECK(driver.released == 4);
  CHECK(timer.begin(kStream) == Mark{});  // closed
}

TEST_CASE("the marks of many launches do not pile up, nor those of a context that has gone") {
  HostMemoryDriver driver;
  KernelTimer timer(driver, kFile);
  for (int i = 0; i < 2000; ++i) {
    timer.end(timer.begin(kStream), kStream);
    driver.passed = driver.marks.load();
  }
  CHECK(driver.marks - driver.released <= 514);
  timer.end(timer.begin(kStream), kStream);
  timer.close_context(driver.current_context());
  CHECK(driver.marks == driver.released);
  timer.close();
  CHECK(written().launches == 2000);
}

TEST_CASE("energy is reported only if it was counted for long enough") {
  HostMemoryDriver driver;
  std::chrono::steady_clock::time_point now;
  const auto measured = [&](std::chrono::milliseconds window, std::optional<std::uint64_t> at_end) {
    KernelTimer timer(driver, kFile, [&now] { return now; });
    driver.millijoules = 5000;
    timer.end(timer.begin(kStream), kStream);
    driver.passed = driver.marks.load();
    now += window;
    driver.millijoules = at_end;
    timer.close();
    return written();
  };
  CHECK(measured(KernelTimer::kLeastForEnergy, 5700).millijoules == 700);
  const KernelTime brief = measured(std::chrono::milliseconds(12), 5700);
  CHECK_FALSE(brief.millijoules);
  CHECK(brief.no_energy == "12 ms are too short for NVML's counter");
  CHECK(measured(KernelTimer::kLeastForEnergy, {}).no_energy ==
        "NVML does not tell that of this device");
  KernelTimer idle(driver, kFile);
  idle.close();
  CHECK(written().no_energy == "no kernel was launched");
}

}  // namespace barracuda::session
