#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ptx/analysis/merged_lines.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/source_frames.h"
#include "ptx/analysis/strides.h"
#include "ptx/analysis/variables.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::number_sites {
namespace {

// What is known of the addresses of a function.
struct Addresses {
  Variables variables;
  Strides strides;
};

// "tile", and "tile@8:128" where it is known that it lies at byte 8 of shared memory and has 128;
// ":0" of what is dynamic. Where its elements lie farther apart than the access is large, "/12"
// behind it.
std::string variable_at(const Program& program, const PlannedSite& site,
                        const Addresses& addresses) {
  const Operand* const address =
      address_of(program.module.statements[site.statement], program.effects[site.statement]);
  if (address == nullptr) {
    return {};
  }
  std::string name = addresses.variables.of(*address);
  const auto& places = program.functions[site.function].placed_shared;
  const auto placed = std::ranges::find(places, name, &PlacedVariable::name);
  const bool is_variable = !name.empty() && name.find_first_of("*,+") == name.npos;
  if (placed != places.end()) {
    name += fmt::format("@{}:{}", placed->offset, placed->bytes);
  }
  const std::uint64_t stride = is_variable ? addresses.strides.of(*address) : 0;
  const std::uint64_t accessed =
      std::uint64_t{site.info.element_bytes} * std::max<std::uint64_t>(site.info.element_count, 1);
  return name + (stride > accessed ? fmt::format("/{}", stride) : "");
}

// Numbers the instructions of a function as statement_name.h does, asked for in ascending order.
class Ordinals {
 public:
  Ordinals(const Module& module, const Function& function)
      : module_(module), next_(function.body_begin) {}

  std::uint32_t at(std::size_t statement) {
    for (; next_ <= statement; ++next_) {
      // What an edit has put in has no line.
      const Statement& passed = module_.statements[next_];
      ordinal_ += passed.kind == StatementKind::kInstruction && passed.position.line != 0 ? 1U : 0U;
    }
    return ordinal_;
  }

 private:
  const Module& module_;
  std::size_t next_;
  std::uint32_t ordinal_ = 0;
};

using FramesOf = std::map<std::size_t, std::vector<SourceFrame>>;

// Of those of a function's sites that have no line of their own. Leaves `frames` at its beginning.
FramesOf frames_of_merged(const Program& program, std::size_t first_site, SourceFrames& frames) {
  const std::uint32_t index = program.sites[first_site].function;
  const MergedLines merged(program, program.function(index));
  std::map<std::size_t, std::vector<std::size_t>> sites_by_stand_in;
  for (std::size_t i = first_site; i < program.sites.size() && program.sites[i].function == index;
       ++i) {
    const std::size_t statement = program.sites[i].statement;
    if (const auto stand_in = merged.stand_in(statement)) {
      sites_by_stand_in[*stand_in].push_back(statement);
    }
  }
  FramesOf found;
  for (const auto& [stand_in, statements] : sites_by_stand_in) {
    const std::vector<SourceFrame> there = frames.at(stand_in);
    for (const std::size_t statement : statements) {
      found.emplace(statement, there);
    }
  }
  if (!found.empty()) {
    frames.enter(program.function(index));
  }
  return found;
}

}  // namespace

Expected<void> run(Program& program) {
  SourceFrames frames(program.module);
  std::optional<Ordinals> ordinals;
  const Function* entered = nullptr;
  std::optional<Addresses> addresses;
  auto last_counted = static_cast<std::size_t>(-1);
  FramesOf merged;
  for (std::size_t number = 0; number < program.sites.size(); ++number) {
    PlannedSite& site = program.sites[number];
    if (site.hook == HookKind::kNone) {
      continue;
    }
    TRY(site.id, next_site(program));
    const Function& function = program.function(site.function);
    if (entered != &function) {
      frames.enter(function);
      merged = frames_of_merged(program, number, frames);
      addresses.emplace(Addresses{.variables = Variables(program.module, function),
                                  .strides = Strides(program.module, function)});
      ordinals.emplace(program.module, function);
      entered = &function;
    }
    const Statement& statement = program.module.statements[site.statement];
    const bool is_instruction = statement.kind == StatementKind::kInstruction;
    const auto stand_in = merged.find(site.statement);
    program.site_table.push_back(
        {.id = site.id,
         .info = site.info,
         .function = std::string(function.name),
         .in_entry = function.is_entry,
         .instruction = site.hook == HookKind::kMeet ? "meeting of branches"
                        : is_instruction             ? name_of(statement.instruction)
                                                     : "ret",
         .ptx_line = statement.position.line,
         .ordinal =
             is_instruction && statement.position.line != 0 ? ordinals->at(site.statement) : 0,
         .variable = is_instruction ? variable_at(program, site, *addresses) : std::string{},
         .update = site.update,
         .is_divergent = site.is_divergent,
         .is_skipped = site.is_skipped,
         .loops = site.loops,
         .frames = stand_in == merged.end() ? frames.at(site.statement) : stand_in->second});
    const bool is_logged = is_instruction && site.hook != HookKind::kMeet;
    if (is_logged && site.statement != last_counted) {
      ++program.logged_instructions;
      last_counted = site.statement;
    }
  }
  return {};
}

}  // namespace barracuda::ptx::number_sites
