#include "weak_memory/memory_model/models.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.h"
#include "weak_memory/memory_model/enumeration.h"
#include "weak_memory/memory_model/operational.h"
#include "weak_memory/memory_model/progress.h"

namespace barracuda::memory_model {
namespace {

constexpr std::array<std::pair<Model, std::string_view>, 6> kNames = {{{Model::kSc, "sc"},
                                                                       {Model::kWeak, "weak"},
                                                                       {Model::kStrong, "strong"},
                                                                       {Model::kDevice, "device"},
                                                                       {Model::kPtx60, "ptx-6.0"},
                                                                       {Model::kPtx75, "ptx-7.5"}}};

StateModel state_model(Model model) {
  return model == Model::kSc       ? StateModel::kSc
         : model == Model::kWeak   ? StateModel::kWeak
         : model == Model::kStrong ? StateModel::kStrong
                                   : StateModel::kDevice;
}

bool has_proxies(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::kProxyFence || instruction.proxy != Proxy::kGeneric;
}

// As the end of "it has no …".
std::optional<Diagnostic> missing_in(const LitmusTest& test, Model model) {
  if (has_states(model)) {
    return not_in_model(test, state_model(model));
  }
  if (test.always) {
    return Diagnostic{.message = "states of which 'always' could be asked"};
  }
  for (const Thread& thread : test.program.threads) {
    for (const Instruction& each : thread.instructions) {
      if (model == Model::kPtx60 && (has_proxies(each) || test.addresses[each.address].is_alias)) {
        return Diagnostic{.message = "proxies and aliases", .line = each.line};
      }
    }
  }
  return std::nullopt;
}

std::string who_takes(const LitmusTest& test) {
  std::vector<std::string_view> names;
  for (const auto& [model, name] : kNames) {
    if (!missing_in(test, model)) {
      names.push_back(name);
    }
  }
  return names.empty() ? "no model takes this test"
                       : fmt::format("this test can be asked of {}", fmt::join(names, ", "));
}

}  // namespace

std::optional<Model> model_named(std::string_view name) {
  if (name == "ptx") {
    return Model::kPtx75;
  }
  const auto found = std::ranges::find(kNames, name, &std::pair<Model, std::string_view>::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

std::string_view name_of(Model model) {
  const auto found = std::ranges::find(kNames, model, &std::pair<Model, std::string_view>::first);
  ASSERT(found != kNames.end());
  return found->second;
}

bool has_states(Model model) {
  return model != Model::kPtx60 && model != Model::kPtx75;
}

bool has_lockstep(Model model) {
  return has_states(model) && model != Model::kDevice;
}

bool has_progress(Model model) {
  return !has_states(model);
}

std::optional<Diagnostic> not_in_model(const LitmusTest& test, Model model) {
  auto missing = missing_in(test, model);
  if (missing) {
    missing->message =
        fmt::format("model {} has no {}; {}", name_of(model), missing->message, who_takes(test));
  }
  return missing;
}

Exploration explore(const LitmusTest& test, Model model, const ExploreOptions& options) {
  ASSERT(!not_in_model(test, model));
  ASSERT(!options.progress || has_progress(model));
  if (has_states(model)) {
    return explore_states(test, state_model(model), options);
  }
  const PtxVersion version = model == Model::kPtx60 ? PtxVersion::k60 : PtxVersion::k75;
  return options.progress ? explore_termination(test, version, options)
                          : explore_axioms(test, version, options);
}

}  // namespace barracuda::memory_model
