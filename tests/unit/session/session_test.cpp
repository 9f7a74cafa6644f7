#include "session/session.h"

#include <chrono>
#include <utility>

#include <catch2/catch.hpp>

#include "fatbin/builder.h"
#include "host_memory_driver.h"
#include "report/coverage.h"

namespace barracuda::session {
namespace {

using Catch::Contains;

// A fat binary of one kernel, which the architecture of the device chooses from.
std::string program(const std::string& parameters = "", const std::string& body = "") {
  const auto image =
      fatbin::image_of_ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry fill(" +
                           parameters + ")\n{\n" + body + "ret;\n}\n");
  REQUIRE(image);
  return fatbin::build({.images = {*image}}).value();
}

TEST_CASE("what is thrown while a module is prepared costs that module alone, and is counted") {
  auto driver = std::make_unique<HostMemoryDriver>();
  HostMemoryDriver& device = *driver;
  const auto session = Session::create(Options{}, std::move(driver), nullptr).value_or(nullptr);
  REQUIRE(session);

  device.failure.emplace("no such device");
  const ProgramImage& failed = session->prepare_file(program());
  CHECK_FALSE(failed.instrumented());
  constexpr Handle kModule = 1, kFunction = 2;
  session->modules().loaded(kModule, false, failed, "", "");
  session->modules().kernel_found(kModule, "fill", kFunction);
  Launch launch(nullptr, nullptr);
  session->launches().begin(launch, {.function = kFunction, .cluster = {}});
  session->launches().submitted(launch, 0);
  const report::Coverage coverage = report::coverage_of(session->run_data(Session::Reading::kLast));
  CHECK(coverage.kernels() == 1);
  CHECK(coverage.instrumented.empty());
  REQUIRE(coverage.gaps.size() == 2);
  CHECK_THAT(coverage.gaps[0], Contains("kernel fill: ") && Contains("no such device"));
  CHECK_THAT(coverage.gaps[1], Contains("without instrumentation") && Contains("no such device"));

  device.failure.reset();
  CHECK(session->prepare_file(program()).instrumented());
}

TEST_CASE("a launch on which the tool fails runs unlogged, is counted, and nobody waits for it") {
  auto driver = std::make_unique<HostMemoryDriver>();
  HostMemoryDriver& device = *driver;
  const auto session = Session::create(Options{}, std::move(driver), nullptr).value_or(nullptr);
  REQUIRE(session);
  const ProgramImage& image = session->prepare_file(
      program(".param .u64 to", ".reg .b64 %p;\nld.param.u64 %p, [to];\nst.global.u32 [%p], 1;\n"));
  REQUIRE(image.instrumented());
  constexpr Handle kModule = 1, kFunction = 2;
  session->modules().loaded(kModule, false, image, "", "");
  session->modules().kernel_found(kModule, "fill", kFunction);

  std::uint64_t to = 0;
  void* parameters[] = {&to};
  Launch launch(parameters, nullptr);
  device.failure.emplace("no memory for queues");
  CHECK_THROWS(session->launches().begin(
      launch, {.function = kFunction, .grid = {}, .block = {}, .cluster = {}}));
  session->launches().abandon(launch, kFunction);
  REQUIRE(launch.parameters() != nullptr);
  CHECK(launch.parameters() != parameters);  // the hidden argument is among them
  CHECK(LaunchTracker::current() == detector::LaunchId{});
  session->launches().submitted(launch, 0);
  const auto begin = std::chrono::steady_clock::now();
  session->launches().drain(device.current_context(), false);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  const report::Coverage coverage = report::coverage_of(session->run_data(Session::Reading::kLast));
  CHECK(coverage.launches == 1);
  REQUIRE(coverage.gaps.size() == 1);
  CHECK_THAT(coverage.gaps[0], Contains("fill") && Contains("the tool failed on its launch"));
}

}  // namespace
}  // namespace barracuda::session
