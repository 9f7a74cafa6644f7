#include "fenced.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "ptx/edit_order.h"
#include "ptx/fence_places.h"
#include "ptx/fence_text.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::ptx {
namespace {

std::size_t fences_in(const Module& module) {
  return static_cast<std::size_t>(
      std::ranges::count_if(module.statements, [](const Statement& statement) {
        return statement.kind == StatementKind::kInstruction &&
               (statement.instruction.opcode == Opcode::kFence ||
                statement.instruction.opcode == Opcode::kMembar);
      }));
}

}  // namespace

void fence_everywhere(Module& module) {
  const auto places = find_fence_places(module, [](std::string_view) { return true; });
  REQUIRE(places);
  std::string text;
  for (const FencePlace& place : *places) {
    text += fence_line(place, default_fence(place));
  }
  const auto lines = parse_fences(text, "places");
  REQUIRE(lines);
  REQUIRE(lines->size() == places->size());
  std::vector<OrderEdit> edits;
  for (std::size_t i = 0; i < lines->size(); ++i) {
    CHECK((*lines)[i].place == (*places)[i]);
    edits.push_back((*lines)[i].edit);
  }
  const std::size_t before = fences_in(module);
  const auto outcomes = apply_edits(module, edits);
  CHECK(std::ranges::all_of(outcomes, [](const EditOutcome& outcome) {
    return outcome.fit == EditOutcome::Fit::kApplied;
  }));
  CHECK(fences_in(module) == before + edits.size());
  const auto again = parse(print(module));
  REQUIRE(again);
  CHECK(equal(module, *again));
}

}  // namespace barracuda::ptx
