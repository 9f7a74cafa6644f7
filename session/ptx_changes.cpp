#include "session/ptx_changes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/hash.h"
#include "ptx/fence_text.h"
#include "ptx/link.h"
#include "ptx/print.h"
#include "report/toolkit_path.h"
#include "session/plan.h"

namespace barracuda::session {
namespace {

using Fit = ptx::EditOutcome::Fit;

constexpr std::size_t kMostSentences = 8;

bool is_user_file(std::string_view file) {
  return !report::is_toolkit_header(file);
}

// How near an image comes to taking a change: the nearest one has the reason that helps.
int nearness(Fit fit) {
  switch (fit) {
    case Fit::kApplied:
      return 3;
    case Fit::kNotPossible:
      return 2;
    case Fit::kNoStatement:
      return 1;
    case Fit::kNoFunction:
      break;
  }
  return 0;
}

}  // namespace

Expected<PtxChanges> PtxChanges::read(const Options& options) {
  PtxChanges made;
  made.lists_places_ = !options.fence_places.empty();
  made.folder_ = options.ptx_folder;
  TRY(const Plan plan, read_plan(options));
  for (const PlannedFence& fence : plan.fences) {
    made.changes_.push_back(
        {.edit = fence.edit,
         .origin = fmt::format("option weakness: {}:{}", options.weakness, fence.line)});
  }
  if (options.fences.empty()) {
    return made;
  }
  const auto failed = [](const Diagnostic& error) {
    return unexpected({.message = "option fences: " + error.to_string()});
  };
  const auto text = read_file(options.fences);
  if (!text) {
    return failed(text.error());
  }
  auto lines = ptx::parse_fences(*text, options.fences);
  if (!lines) {
    return failed(lines.error());
  }
  for (ptx::FenceLine& line : *lines) {
    made.changes_.push_back(
        {.edit = std::move(line.edit),
         .origin = fmt::format("option fences: {}:{}", options.fences, line.line)});
  }
  return made;
}

Expected<ChangedUnits> PtxChanges::apply(std::vector<ptx::Module> units) const {
  ChangedUnits changed;
  if (changes_.empty() && !lists_places_ && folder_.empty()) {
    changed.units = std::move(units);
    return changed;
  }
  TRY(ptx::Module module, ptx::link(std::move(units)));
  if (lists_places_) {
    TRY(changed.fences.places, ptx::find_fence_places(module, is_user_file));
    TRY(changed.fences.own, ptx::find_own_fences(module, is_user_file));
  }
  std::vector<ptx::OrderEdit> edits;
  std::ranges::transform(changes_, std::back_inserter(edits), &Change::edit);
  changed.outcomes = ptx::apply_edits(module, edits);
  if (!folder_.empty()) {
    if (auto written = write(module); !written) {
      return unexpected(std::move(written).error());
    }
  }
  changed.units.push_back(std::move(module));
  return changed;
}

// The name is made of the text: processes that load the same module write the same file.
Expected<void> PtxChanges::write(const ptx::Module& module) const {
  const std::string text = ptx::print(module);
  return write_file(fmt::format("{}/{:016x}.ptx", folder_, hash128(text).low), text);
}

std::vector<std::string> PtxChanges::unfit(
    std::span<const std::vector<ptx::EditOutcome>> of_images) const {
  std::vector<std::string> sentences;
  std::size_t more = 0;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    ptx::EditOutcome best{.fit = Fit::kNoFunction,
                          .reason = "no module that was loaded has such a function"};
    for (const std::vector<ptx::EditOutcome>& outcomes : of_images) {
      ASSERT(outcomes.empty() || outcomes.size() == changes_.size());
      if (!outcomes.empty() && nearness(outcomes[i].fit) > nearness(best.fit)) {
        best = outcomes[i];
      }
    }
    if (best.fit == Fit::kApplied) {
      continue;
    }
    if (sentences.size() == kMostSentences) {
      ++more;
      continue;
    }
    sentences.push_back(fmt::format("{}: {} does not fit the program: {}", changes_[i].origin,
                                    ptx::to_string(changes_[i].edit.at), best.reason));
  }
  if (more != 0) {
    sentences.push_back(fmt::format("{} more lines do not fit the program", more));
  }
  return sentences;
}

std::string fence_places_text(std::span<const ptx::ModuleFences> of_images,
                              const std::set<std::string>& launched) {
  std::string text =
      "# Where fences may be put, for the option fences=: +FUNCTION#STATEMENT KIND SCOPE.\n"
      "# The program's own stand as comments: -FUNCTION#STATEMENT takes one out.\n";
  const auto is_launched = [&launched](const auto& at) {
    return std::ranges::any_of(
        at.kernels, [&](const std::string& kernel) { return launched.contains(kernel); });
  };
  std::map<std::vector<ptx::SourcePlace>, std::uint32_t> numbers;
  std::set<ptx::StatementName> written;
  std::uint32_t places = 0;
  for (const ptx::ModuleFences& of_image : of_images) {
    for (ptx::FencePlace place : of_image.places) {
      if (!is_launched(place) || !written.insert(place.at).second) {
        continue;
      }
      if (place.lines.empty()) {
        place.place = ++places;
      } else {
        const auto [known, is_new] = numbers.emplace(place.lines, places + 1);
        places += is_new ? 1 : 0;
        place.place = known->second;
      }
      text += ptx::fence_line(place, ptx::default_fence(place));
    }
    for (const ptx::OwnFence& own : of_image.own) {
      if (is_launched(own) && written.insert(own.at).second) {
        text += ptx::own_fence_line(own);
      }
    }
  }
  return text;
}

}  // namespace barracuda::session
