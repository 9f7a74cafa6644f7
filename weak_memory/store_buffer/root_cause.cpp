#include "weak_memory/store_buffer/root_cause.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/assert.h"
#include "weak_memory/ddmin.h"

namespace barracuda::weak_memory {
namespace {

constexpr std::size_t kMostDdminRuns = 400;

std::vector<SourcePlace> joined(std::vector<SourcePlace> left,
                                const std::vector<SourcePlace>& right, std::size_t count) {
  left.insert(left.end(), right.begin(), right.begin() + static_cast<std::ptrdiff_t>(count));
  return left;
}

std::vector<SourcePlace> without(std::vector<SourcePlace> places, std::size_t number) {
  places.erase(places.begin() + static_cast<std::ptrdiff_t>(number));
  return places;
}

std::vector<Fence> as_edits(const std::vector<NeededFence>& fences) {
  std::vector<Fence> edits;
  for (const NeededFence& needed : fences) {
    const std::vector<Fence> more = fences_at({needed.place}, needed.fence);
    edits.insert(edits.end(), more.begin(), more.end());
  }
  return edits;
}

std::vector<std::string> kernels_in(const emulator::WeakLog& log) {
  std::vector<std::string> kernels;
  for (const emulator::WeakEvent& event : log.events) {
    if (std::ranges::find(kernels, event.decision.kernel) == kernels.end()) {
      kernels.push_back(event.decision.kernel);
    }
  }
  return kernels;
}

std::vector<std::string> kernels_in(const std::vector<ptx::FencePlace>& places) {
  std::set<std::string> kernels;
  for (const ptx::FencePlace& place : places) {
    kernels.insert(place.kernels.begin(), place.kernels.end());
  }
  return {kernels.begin(), kernels.end()};
}

Settings with_log(Settings settings) {
  settings.wants_log = true;
  return settings;
}

bool are_all_stale(const std::vector<emulator::WeakEvent>& events) {
  return !events.empty() && std::ranges::all_of(events, [](const emulator::WeakEvent& event) {
    return event.decision.kind == emulator::WeakKind::kStale;
  });
}

// The analysis of one failing run.
class Analysis {
 public:
  Analysis(Trials& trials, Settings failing, std::vector<std::uint64_t> seeds, HasLog has_log)
      : trials_(trials),
        failing_(std::move(failing)),
        seeds_(std::move(seeds)),
        has_log_(has_log == HasLog::kYes) {}

  std::vector<RootCause> run() {
    std::vector<RootCause> causes;
    for (const Settings& memory : memories()) {
      for (Settings& settings : kernels(memory)) {
        if (trials_.is_over()) {
          break;
        }
        causes.push_back(cause_of(std::move(settings)));
      }
    }
    return causes;
  }

 private:
  bool fails(const Settings& settings) {
    return trials_.failing_seed(settings, seeds_).has_value();
  }

  // Stress chooses neither memory nor kernels.
  [[nodiscard]] bool is_stress() const { return failing_.weakness.stores == 0 && !has_log_; }

  // Data: each memory alone, where that makes it fail.
  std::vector<Settings> memories() {
    if (!failing_.weakness.global || !failing_.weakness.shared || is_stress()) {
      return {failing_};
    }
    std::vector<Settings> alone;
    for (const bool is_global : {true, false}) {
      Settings settings = failing_;
      settings.weakness.global = is_global;
      settings.weakness.shared = !is_global;
      if (fails(settings)) {
        alone.push_back(std::move(settings));
      }
    }
    return alone.empty() ? std::vector{failing_} : alone;
  }

  // Kernel: each alone, where that makes it fail.
  std::vector<Settings> kernels(const Settings& memory) {
    if (is_stress()) {
      return {memory};
    }
    const std::vector<std::string> names =
        has_log_ ? kernels_in(trials_.make_one(with_log(memory)).log) : kernels_in(known_places());
    std::vector<Settings> alone;
    for (const std::string& name : names) {
      Settings settings = memory;
      settings.weakness.kernel = name;
      if (names.size() == 1 || fails(settings)) {
        alone.push_back(std::move(settings));
      }
    }
    return alone.empty() ? std::vector{memory} : alone;
  }

  RootCause cause_of(Settings settings) {
    if (const auto seed = trials_.failing_seed(settings, seeds_)) {
      settings.seed = *seed;
    }
    RootCause cause{.global = settings.weakness.global,
                    .shared = settings.weakness.shared,
                    .kernel = settings.weakness.kernel,
                    .reduced = settings,
                    .seeds = seeds_.size()};
    if (has_log_) {
      reduce_decisions(cause);
    }
    find_fences(cause, settings);
    return cause;
  }

  // The delayed stores of the failing run, reduced while it still fails.
  void reduce_decisions(RootCause& cause) {
    const Outcome whole = trials_.make_one(with_log(cause.reduced));
    cause.events = whole.log.events;
    std::vector<emulator::Decision> all;
    all.reserve(whole.log.events.size());
    for (const emulator::WeakEvent& event : whole.log.events) {
      all.push_back(event.decision);
    }
    Settings settings = cause.reduced;
    const auto shows = [&](const std::vector<emulator::Decision>& part) {
      settings.weakness.decisions = part;
      return !trials_.is_over() && trials_.judge(trials_.make_one(settings)) != Failure::kNone;
    };
    if (all.empty() || !shows(all)) {
      return;
    }
    settings.weakness.decisions = ddmin<emulator::Decision>(std::move(all), shows, kMostDdminRuns);
    const Outcome smallest = trials_.make_one(with_log(settings));
    if (trials_.judge(smallest) != Failure::kNone) {
      cause.reduced = settings;
      cause.is_reduced = true;
      cause.events = smallest.log.events;
    }
  }

  void find_fences(RootCause& cause, const Settings& settings) {
    const std::vector<SourcePlace> places =
        source_places(known_places(), cause.global, cause.shared, cause.kernel);
    cause.candidates = places.size();
    if (places.empty()) {
      cause.search = RootCause::Fences::kNoPlaces;
      return;
    }
    const ptx::Fence strongest{.order = wire::MemoryOrder::kSeqCst,
                               .scope = cause.global ? wire::Scope::kGpu : wire::Scope::kCta};
    const auto fails_with_places = [&](const std::vector<SourcePlace>& fenced) {
      Settings changed = settings;
      changed.fences = fences_at(fenced, strongest);
      return fails(changed);
    };
    if (fails_with_places(places)) {
      cause.search = RootCause::Fences::kNotCured;
      return;
    }
    // Stale reads alone: the fence stands behind the load that a thread acquires with. Of those
    // that seem to do the last one, for one before it fails to only in rare runs.
    std::vector<SourcePlace> acquiring;
    if (cause.is_reduced && are_all_stale(cause.events)) {
      acquiring = acquiring_places(places);
      std::ranges::reverse(acquiring);
    }
    const bool do_suffice = !acquiring.empty() && !fails_with_places(acquiring);
    std::vector<NeededFence> found;
    for (SourcePlace& place : needed_places(do_suffice ? acquiring : places, fails_with_places)) {
      found.push_back({.place = std::move(place), .fence = strongest});
    }
    // On a GPU every fence drains to memory, whatever its scope.
    const bool is_seen =
        has_log_ && settings.weakness.stale_reads == 0 && settings.weakness.late_loads == 0;
    const ScopeShows scope_shows = is_seen ? ScopeShows::kYes : ScopeShows::kNo;
    found = narrowed(std::move(found), scope_shows, [&](const std::vector<NeededFence>& fences) {
      Settings changed = settings;
      changed.fences = as_edits(fences);
      return fails(changed);
    });
    if (!trials_.is_over()) {
      cause.fences = std::move(found);
      cause.search = RootCause::Fences::kFound;
    }
  }

  const std::vector<ptx::FencePlace>& known_places() {
    if (!places_) {
      Settings settings{.seed = failing_.seed, .weakness = {}, .fences = {}, .edits = {}};
      settings.wants_places = true;
      places_ = trials_.make_one(settings).fences.places;
    }
    return *places_;
  }

  Trials& trials_;
  Settings failing_;
  std::vector<std::uint64_t> seeds_;
  bool has_log_;
  std::optional<std::vector<ptx::FencePlace>> places_;
};

}  // namespace

std::vector<SourcePlace> acquiring_places(const std::vector<SourcePlace>& all) {
  std::vector<SourcePlace> some;
  std::ranges::copy_if(all, std::back_inserter(some), [](const SourcePlace& place) {
    return std::ranges::any_of(place.accesses, [](const ptx::FencePlace& access) {
      return access.kind == ptx::AccessKind::kStrongLoad || access.kind == ptx::AccessKind::kAtomic;
    });
  });
  return some;
}

std::vector<SourcePlace> needed_places(const std::vector<SourcePlace>& all,
                                       const FailsWithPlaces& fails) {
  std::vector<SourcePlace> needed;
  std::vector<SourcePlace> rest = all;
  // With `needed` and all of the `rest` it does not fail.
  while (!rest.empty() && fails(needed)) {
    std::size_t failing = 0;  // so many of the rest are too few, so many suffice
    std::size_t sufficient = rest.size();
    while (sufficient - failing > 1) {
      const std::size_t middle = failing + (sufficient - failing) / 2;
      (fails(joined(needed, rest, middle)) ? failing : sufficient) = middle;
    }
    needed.push_back(rest[sufficient - 1]);
    rest.resize(sufficient - 1);
  }
  for (std::size_t i = needed.size(); i > 0; --i) {
    if (needed.size() > 1 && !fails(without(needed, i - 1))) {
      needed = without(std::move(needed), i - 1);
    }
  }
  return needed;
}

std::vector<NeededFence> narrowed(std::vector<NeededFence> fences, ScopeShows scope_shows,
                                  const FailsWithFences& fails) {
  for (std::size_t i = 0; i < fences.size(); ++i) {
    const auto keep_if_it_helps = [&](ptx::Fence weaker) {
      const ptx::Fence before = std::exchange(fences[i].fence, weaker);
      if (before != weaker && fails(fences)) {
        fences[i].fence = before;
      }
    };
    keep_if_it_helps({.order = wire::MemoryOrder::kAcqRel, .scope = fences[i].fence.scope});
    if (scope_shows == ScopeShows::kYes) {
      keep_if_it_helps({.order = fences[i].fence.order, .scope = wire::Scope::kCta});
    }
  }
  return fences;
}

std::vector<RootCause> find_root_causes(Trials& trials, const Settings& failing,
                                        std::vector<std::uint64_t> seeds, HasLog has_log) {
  ASSERT(!seeds.empty());
  return Analysis(trials, failing, std::move(seeds), has_log).run();
}

}  // namespace barracuda::weak_memory
