#include "session/weak_options.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/weak_values.h"
#include "report/toolkit_path.h"
#include "session/kernel_filter.h"
#include "session/plan.h"
#include "session/store_delayer.h"
#include "session/weak_log.h"

namespace barracuda::session {

namespace {

using emulator::Weakness;

constexpr std::uint64_t kDefaultCapacity = 256;

double probability(const std::string& text) {
  return parse_probability(text).value_or(0);
}

Expected<void> take_filters(const Options& options, Weakness& weakness) {
  auto places = parse_places(options.delay_places);
  if (!places) {
    return unexpected({.message = "option delay-places: " + places.error().message});
  }
  weakness.places = std::move(*places);
  if (!options.delay_kernel.empty()) {
    Options named;
    named.kernel_name = options.delay_kernel;
    TRY(KernelFilter parsed, KernelFilter::parse(named));
    const auto filter = std::make_shared<const KernelFilter>(std::move(parsed));
    weakness.takes_kernel = [filter](std::string_view kernel) {
      return filter->matches(std::string(kernel));
    };
  }
  return {};
}

Expected<void> open_log(const Options& options, Weakness& weakness) {
  if (options.weak_log.empty()) {
    return {};
  }
  TRY(const std::string path, expand_file_name(options.weak_log));
  if (const auto emptied = write_file(path, ""); !emptied) {
    return unexpected({.message = "option weak-log: " + emptied.error().to_string()});
  }
  weakness.report = [path](const emulator::WeakLog& log) { append_weak_log(path, log); };
  return {};
}

}  // namespace

std::string weakening_option(const Options& options) {
  if (probability(options.delay_stores) > 0) {
    return "delay-stores=" + options.delay_stores;
  }
  if (probability(options.stale_reads) > 0) {
    return "stale-reads=" + options.stale_reads;
  }
  if (probability(options.late_loads) > 0) {
    return "late-loads=" + options.late_loads;
  }
  const auto plan = read_plan(options);
  return plan && !plan->decisions.empty() ? "weakness=" + options.weakness : std::string();
}

std::string simulated_option(const Options& options) {
  if (probability(options.stale_reads) > 0) {
    return "stale-reads=" + options.stale_reads;
  }
  const auto plan = read_plan(options);
  if (plan && !plan->decisions.empty()) {
    return "weakness=" + options.weakness;
  }
  const bool delays = probability(options.delay_stores) > 0;
  return delays && !options.delay_places.empty() ? "delay-places=" + options.delay_places
                                                 : std::string();
}

Expected<std::optional<ProcessWeakness>> weakness_of(const Options& options) {
  if (weakening_option(options).empty() || rewrites_stores(options, true)) {
    return std::nullopt;
  }
  TRY(const Plan plan, read_plan(options));
  Weakness weakness;
  weakness.delay_stores = probability(options.delay_stores);
  weakness.stale_reads = probability(options.stale_reads);
  weakness.late_loads = probability(options.late_loads);
  if (const auto spaces = parse_spaces(options.delay_spaces)) {
    weakness.spaces = {spaces->global, spaces->shared};
  }
  if (const auto ages = parse_ages(options.delay_age)) {
    weakness.strong_age = ages->front();
    weakness.weak_age = ages->back();
  }
  weakness.capacity = static_cast<std::uint32_t>(options.delay_capacity.value_or(kDefaultCapacity));
  weakness.block_level = options.delay_levels == "block";
  weakness.weak_coherence = options.coherence == "weak";
  weakness.split_vectors = options.split_vectors;
  weakness.seed = options.weak_seed.value_or(options.seed.value_or(1));
  weakness.shape =
      options.weakness == kBugaroo ? emulator::WeakShape::kBugaroo : emulator::WeakShape::kFull;
  weakness.has_decisions = !plan.decisions.empty();
  weakness.decisions = plan.decisions;
  weakness.is_library_file = report::is_toolkit_header;
  if (auto taken = take_filters(options, weakness); !taken) {
    return unexpected(std::move(taken).error());
  }
  if (auto opened = open_log(options, weakness); !opened) {
    return unexpected(std::move(opened).error());
  }
  ProcessWeakness made{.weakness = std::move(weakness), .decisions = nullptr};
  if (!plan.decisions.empty()) {
    const auto decisions = std::make_shared<PlanDecisions>(options.weakness, plan.decisions);
    made.weakness.report = [decisions,
                            log = std::move(made.weakness.report)](const emulator::WeakLog& piece) {
      decisions->note(piece);
      if (log) {
        log(piece);
      }
    };
    made.decisions = decisions;
  }
  return made;
}

}  // namespace barracuda::session
