#include "session/session.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "fatbin/builder.h"
#include "host_memory_driver.h"
#include "report/coverage.h"
#include "session/split_image.h"
#include "session/uninstrumented_kernels.h"

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
  const auto session = Session::create(Options{}, std::move(driver), {}).value_or(nullptr);
  REQUIRE(session);

  device.failure.emplace("no such device");
  const ProgramImage& failed = session->images().prepare_file(program());
  CHECK_FALSE(failed.instrumented());
  constexpr Handle kModule{1}, kFunction{2};
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
  CHECK(session->images().prepare_file(program()).instrumented());
}

TEST_CASE("a launch on which the tool fails runs unlogged, is counted, and nobody waits for it") {
  auto driver = std::make_unique<HostMemoryDriver>();
  HostMemoryDriver& device = *driver;
  const auto session = Session::create(Options{}, std::move(driver), {}).value_or(nullptr);
  REQUIRE(session);
  const ProgramImage& image = session->images().prepare_file(
      program(".param .u64 to", ".reg .b64 %p;\nld.param.u64 %p, [to];\nst.global.u32 [%p], 1;\n"));
  REQUIRE(image.instrumented());
  constexpr Handle kModule{1}, kFunction{2};
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
  session->in_flight().drain(device.current_context(), false);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  const report::Coverage coverage = report::coverage_of(session->run_data(Session::Reading::kLast));
  CHECK(coverage.launches == 1);
  REQUIRE(coverage.gaps.size() == 1);
  CHECK_THAT(coverage.gaps[0], Contains("fill") && Contains("the tool failed on its launch"));
}

// Two kernels, one of which adds to a variable of the module.
std::string program_in_parts() {
  const auto image = fatbin::image_of_ptx(
      ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 count;\n"
      ".visible .entry one()\n{\nred.global.add.u32 [count], 1;\nret;\n}\n"
      ".visible .entry two()\n{\n.reg .b64 %p;\nmov.u64 %p, 64;\nst.global.u32 [%p], 1;\n"
      "ret;\n}\n");
  REQUIRE(image);
  return fatbin::build({.images = {*image}}).value();
}

TEST_CASE("the variables of a kernel in a part of its own are those of its module") {
  auto driver = std::make_unique<HostMemoryDriver>();
  HostMemoryDriver& device = *driver;
  Options options;
  options.split_modules = 2;
  const auto session = Session::create(options, std::move(driver), {}).value_or(nullptr);
  REQUIRE(session);
  const ProgramImage& image = session->images().prepare_file(program_in_parts());
  REQUIRE(image.split != nullptr);
  const ptx::KernelPart* const part = image.split->find_part("one");
  REQUIRE(part != nullptr);
  CHECK(part->variables == std::vector<std::string>{"count"});
  CHECK(image.split->find_part("one") == part);
  CHECK(image.split->find_part("none") == nullptr);
  CHECK(image.uninstrumented->find("two") != nullptr);

  constexpr Handle kModule{1}, kPart{2}, kFunction{3};
  using enum ModuleRegistry::Loading;
  session->modules().loaded(kModule, false, image, "", "", kBase);
  session->modules().kernel_found(kModule, "one", kFunction, {.handle = kPart, .part = part});
  CHECK(session->modules().loaded_text(image, "one") == part->text);
  CHECK_FALSE(session->variables().place(kFunction));  // nobody knows where they are

  std::uint32_t count = 0;
  std::uint64_t table = 0;
  const auto range_of = [](auto& variable) {
    return MemoryRange{.address = reinterpret_cast<std::uint64_t>(&variable),
                       .bytes = sizeof variable};
  };
  device.variables[{kModule, "count"}] = range_of(count);
  device.variables[{kPart, ptx::kAddressTable}] = range_of(table);
  CHECK(session->variables().place(kFunction));
  CHECK(table == range_of(count).address);

  // A part that is loaded again, perhaps at the same handle, has to be told again.
  table = 0;
  session->before_unload(kModule);
  session->modules().loaded(kModule, false, image, "", "", kBase);
  session->modules().kernel_found(kModule, "one", kFunction, {.handle = kPart, .part = part});
  CHECK(session->variables().place(kFunction));
  CHECK(table == range_of(count).address);
}

TEST_CASE("a module of few kernels, and every module without the option, is one text") {
  for (const std::uint64_t least : {0, 3}) {
    Options options;
    options.split_modules = least;
    const auto session =
        Session::create(options, std::make_unique<HostMemoryDriver>(), {}).value_or(nullptr);
    REQUIRE(session);
    CHECK(session->images().prepare_file(program_in_parts()).split == nullptr);
  }
}

}  // namespace
}  // namespace barracuda::session
