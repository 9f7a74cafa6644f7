// What nvcc compiled still assembles with a fence at every place where one may be put, and with
// other orders and scopes of every access that can have them.
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "fenced.h"
#include "instrumented.h"
#include "ptx/edit_order.h"
#include "ptx/fence_places.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::ptx {
namespace {

namespace fs = std::filesystem;
using enum wire::MemoryOrder;
using enum wire::Scope;

constexpr wire::MemoryOrder kOrders[] = {kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel};
constexpr wire::Scope kScopes[] = {kCta, kCluster, kGpu, kSys};

// Each access gets the next order, and then the next scope, of those that it can have.
void change_every_order(Module& module) {
  const auto places = find_fence_places(module, [](std::string_view) { return true; });
  REQUIRE(places);
  std::size_t order = 0, scope = 0, changed = 0;
  for (const FencePlace& place : *places) {
    for (std::size_t tries = 0; tries < std::size(kOrders); ++tries) {
      const OrderEdit edit{.at = place.at,
                           .change = ChangeOrder{.order = kOrders[order++ % std::size(kOrders)],
                                                 .scope = kScopes[scope++ % std::size(kScopes)]}};
      if (apply_edits(module, {&edit, 1}).front().fit == EditOutcome::Fit::kApplied) {
        ++changed;
        break;
      }
    }
    const OrderEdit edit{.at = place.at,
                         .change = ChangeScope{.scope = kScopes[scope++ % std::size(kScopes)]}};
    changed += apply_edits(module, {&edit, 1}).front().fit == EditOutcome::Fit::kApplied ? 1 : 0;
  }
  CHECK((places->empty() || changed > 0));
}

void check_all(const std::string& mode, std::size_t at_least, void (*change)(Module&)) {
  std::size_t files = 0;
  for (const char* folder : {BARRACUDA_PROGRAMS, BARRACUDA_PTX_CORPUS}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (!name.ends_with("." + mode + ".ptx")) {
        continue;
      }
      INFO(name);
      auto text = read_file(entry.path());
      REQUIRE(text);
      auto module = parse(std::move(*text));
      REQUIRE(module);
      change(*module);
      if (!name.starts_with("linked_")) {
        CHECK(assemble(print(*module)) == "");
      }
      ++files;
    }
  }
  CHECK(files >= at_least);
}

}  // namespace

TEST_CASE("with fences at every place ptxas assembles every module for sm_75") {
  check_all("sm_75", 15, fence_everywhere);
}

TEST_CASE("with fences at every place ptxas assembles every module for sm_90") {
  check_all("sm_90", 10, fence_everywhere);
}

TEST_CASE("with fences at every place ptxas assembles every module for sm_100") {
  check_all("sm_100", 15, fence_everywhere);
}

TEST_CASE("with fences at every place ptxas assembles every module compiled with -G") {
  check_all("sm_90-G", 12, fence_everywhere);
}

TEST_CASE("with other orders ptxas assembles every module for sm_75") {
  check_all("sm_75", 15, change_every_order);
}

TEST_CASE("with other orders ptxas assembles every module for sm_90") {
  check_all("sm_90", 10, change_every_order);
}

TEST_CASE("with other orders ptxas assembles every module for sm_100") {
  check_all("sm_100", 15, change_every_order);
}

}  // namespace barracuda::ptx
