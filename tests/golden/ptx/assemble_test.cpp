// What nvcc compiles is instrumented and assembled by ptxas, module by module.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "instrumented.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> modules_of(const std::string& mode) {
  std::vector<std::string> paths;
  for (const char* folder : {BARRACUDA_PROGRAMS, BARRACUDA_PTX_CORPUS}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.ends_with("." + mode + ".ptx") && !name.starts_with("linked_")) {
        paths.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(paths);
  return paths;
}

void check_all(const std::string& mode, std::size_t at_least, bool for_paper = false) {
  const auto paths = modules_of(mode);
  REQUIRE(paths.size() >= at_least);
  for (const std::string& path : paths) {
    INFO(path);
    const InstrumentedModule module = instrument_files({path}, {.for_paper = for_paper});
    CHECK(module.logged_instructions > 0);
    CHECK(std::ranges::all_of(module.kernels, &Kernel::instrumented));
    CHECK(assemble(module.text) == "");
  }
}

}  // namespace

TEST_CASE("ptxas assembles every instrumented module for sm_75") {
  check_all("sm_75", 15);
}

TEST_CASE("ptxas assembles every instrumented module for sm_90") {
  check_all("sm_90", 10);
}

TEST_CASE("ptxas assembles every instrumented module for sm_100") {
  check_all("sm_100", 15);
}

TEST_CASE("ptxas assembles every module with delayed stores") {
  for (const std::string mode : {"sm_75", "sm_90", "sm_100", "sm_90-G"}) {
    for (const std::string& path : modules_of(mode)) {
      INFO(path);
      const InstrumentedModule module = instrument_files({path}, {.delays_stores = true});
      CHECK(module.logged_instructions > 0);
      CHECK(assemble(module.text) == "");
    }
  }
}

TEST_CASE("ptxas assembles every module that is rewritten for stress") {
  for (const std::string mode : {"sm_75", "sm_90", "sm_100", "sm_90-G"}) {
    for (const std::string& path : modules_of(mode)) {
      INFO(path);
      const bool delays = mode == "sm_90";
      const InstrumentedModule module = instrument_files(
          {path}, {.delays_stores = delays, .is_stressed = true, .permutes_warps = true});
      CHECK(std::ranges::any_of(module.kernels, &Kernel::resizes_grid));
      CHECK(assemble(module.text) == "");
    }
  }
}

TEST_CASE("ptxas assembles every module instrumented for model=paper") {
  check_all("sm_75", 15, true);
  check_all("sm_90-G", 12, true);
}

TEST_CASE("ptxas assembles every instrumented module compiled with -G") {
  check_all("sm_90-G", 12);
}

TEST_CASE("matrix accesses and asynchronous copies of the library are all logged, and assemble") {
  for (const std::string mode : {"sm_80", "sm_90"}) {
    INFO(mode);
    const InstrumentedModule module =
        instrument_files({std::string(BARRACUDA_PROGRAMS) + "/matrices." + mode + ".ptx"});
    CHECK(assemble(module.text) == "");
    std::string missing;
    for (const NotCovered& instruction : module.not_covered) {
      missing += instruction.instruction + "\n";
    }
    CHECK(missing.empty());
    const auto logged = [&](std::string_view prefix) {
      return std::ranges::any_of(
          module.sites, [&](const Site& site) { return site.instruction.starts_with(prefix); });
    };
    for (const std::string_view prefix :
         {"wmma.load.a", "wmma.load.b", "wmma.load.c", "wmma.store.d", "cp.async.",
          "cp.async.commit_group", "cp.async.wait_group", "mbarrier.init", "mbarrier.arrive.",
          "mbarrier.arrive_drop", "mbarrier.t"}) {
      INFO(prefix);
      CHECK(logged(prefix));
    }
  }
}

// tools/nightly.sh has those made of all intrinsics, in the folder that it names.
TEST_CASE("ptxas assembles what LLVM writes for each of its intrinsics, instrumented") {
  const char* const folder = std::getenv("BARRACUDA_NVVM_FOLDER");
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder != nullptr ? folder : BARRACUDA_NVVM)) {
    if (entry.path().extension() == ".ptx") {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    WARN("this machine has no LLVM 19");
    return;
  }
  // Inlined into hundreds of kernels the hooks would take minutes.
  constexpr const char* kTarget = "sm_90a --compile-only";
  std::ranges::sort(paths);
  std::size_t kernels = 0;
  for (const std::string& path : paths) {
    INFO(path);
    const InstrumentedModule module = instrument_files({path});
    kernels += module.kernels.size();
    CHECK(std::ranges::all_of(module.kernels, [](const Kernel& kernel) {
      return kernel.instrumented || kernel.is_empty;  // one calls the intrinsic that exits
    }));
    CHECK(assemble_for(kTarget, module.text) == "");
  }
  CHECK(kernels > 500);
}

TEST_CASE("ptxas assembles two instrumented translation units linked into one") {
  for (const std::string mode : {"sm_75", "sm_100", "sm_90-G"}) {
    INFO(mode);
    const std::string folder = BARRACUDA_PROGRAMS;
    const InstrumentedModule module = instrument_files(
        {folder + "/linked_first." + mode + ".ptx", folder + "/linked_second." + mode + ".ptx"});
    CHECK(assemble(module.text) == "");
    REQUIRE(module.kernels.size() == 2);
    CHECK(module.kernels[0].numbered);
    const auto parsed = parse(module.text);
    REQUIRE(parsed);
    std::size_t helpers = 0;
    for (const Function& function : parsed->functions) {
      helpers +=
          function.has_body && function.name.find("local_helper") != std::string::npos ? 1 : 0;
    }
    CHECK(helpers == 2);
  }
}

}  // namespace barracuda::ptx
