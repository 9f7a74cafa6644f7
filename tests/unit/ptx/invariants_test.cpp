// What a caller breaks on purpose is found out by an assertion; what a text breaks is a Diagnostic.
#include <catch2/catch.hpp>

#include "ptx/analysis/dominators.h"
#include "ptx/analysis/label_scopes.h"
#include "ptx/control_flow.h"
#include "ptx/parse.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::ptx {
namespace {

using Catch::Contains;
using test::failed_assertion;

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
  ret;
}
)";

TEST_CASE("a block that a function has not dominates nothing") {
  const Module module = parse(kText).value();
  const ControlFlow flow = build_control_flow(module, module.functions.at(0)).value();
  CHECK(flow.dominates(0, 0));
  const auto past = static_cast<std::uint32_t>(flow.blocks.size());
  CHECK_THAT(failed_assertion([&] { (void)flow.dominates(0, past); }),
             Contains("control_flow.cpp"));
  CHECK_THAT(failed_assertion([] { (void)immediate_dominators({{}, {}}, 2); }),
             Contains("dominators.cpp"));
}

TEST_CASE("a module whose functions are elsewhere than they say is not valid") {
  Module module = parse(kText).value();
  CHECK(module.is_valid());
  module.statements.erase(module.statements.begin());
  CHECK_FALSE(module.is_valid());
  module.index_functions();
  CHECK(module.is_valid());
}

TEST_CASE("a function whose body was changed behind its back has no scopes") {
  Module module = parse(kText).value();
  const Function& function = module.functions.at(0);
  const LabelScopes labels(module, function);
  CHECK_THAT(failed_assertion([&] { (void)labels.find(function.body_end + 1, "l"); }),
             Contains("label_scopes.cpp"));
  module.statements[function.body_begin + 1].kind = StatementKind::kBlockOpen;
  CHECK_THAT(failed_assertion([&] { const LabelScopes broken(module, function); }),
             Contains("label_scopes.cpp"));
}

}  // namespace
}  // namespace barracuda::ptx
