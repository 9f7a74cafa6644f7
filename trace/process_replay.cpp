#include "trace/process_replay.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "report/coverage.h"

namespace barracuda::trace {
namespace {

using detector::Dim3;
using detector::LaunchId;
using detector::WorkId;

// CUDA's limits. Other launches fail, but the session hears of them before the driver's answer.
constexpr std::uint64_t kMaximumThreads = 1024;
constexpr std::uint64_t kMaximumClusterSize = 64;
constexpr std::uint32_t kMaximumGridX = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kMaximumGridYZ = 65535;

bool is_between(const Dim3& extent, std::uint64_t greatest) {
  return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= greatest &&
         extent.y <= greatest && extent.z <= greatest && extent.volume() <= greatest;
}

bool can_run(const detector::LaunchInfo& launch) {
  return is_between(launch.block, kMaximumThreads) &&
         is_between(launch.cluster, kMaximumClusterSize) && launch.grid.x <= kMaximumGridX &&
         launch.grid.y <= kMaximumGridYZ && launch.grid.z <= kMaximumGridYZ;
}

// The session leaves out copies of more rows: each is looked at.
constexpr std::uint64_t kMaximumRows = std::uint64_t{1} << 20;
constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << wire::kSpaceShift;

bool is_possible(const detector::MemoryRows& rows) {
  return rows.rows <= kMaximumRows && rows.address < kAddressSpace &&
         rows.row_bytes < kAddressSpace && rows.pitch < kAddressSpace / kMaximumRows;
}

}  // namespace

bool ProcessReplay::refuse(const std::string& reason) {
  problem_ = reason;
  return false;
}

bool ProcessReplay::take(const Event& event) {
  if (!begin_ && !std::holds_alternative<StreamBegin>(event)) {
    return refuse("its beginning is missing");
  }
  if (end_) {
    return refuse("something stands behind its end");
  }
  return std::visit([this](const auto& kind) { return on(kind); }, event);
}

ProcessReplay::Launch* ProcessReplay::find(LaunchId id) {
  const std::uint32_t number = index_of(id);
  return number == 0 || number > launches_.size() ? nullptr : &launches_[number - 1];
}

bool ProcessReplay::on(const StreamBegin& event) {
  if (begin_) {
    return refuse("it begins twice");
  }
  begin_ = event;
  // Records of another form mean something else; replay() tells.
  return event.protocol == wire::kProtocolVersion;
}

bool ProcessReplay::on(const DeviceNamed& event) {
  run_.device = event.name;
  return true;
}

bool ProcessReplay::on(const SiteDescribed& event) {
  if (index_of(event.site.id) != run_.sites.size() || run_.sites.size() >= wire::kMaxSites) {
    return refuse(fmt::format("instruction {} has the number {}", run_.sites.size(),
                              index_of(event.site.id)));
  }
  run_.sites.own().push_back(event.site);
  return true;
}

bool ProcessReplay::on(const SitesAdded& event) {
  if (index_of(event.first) != sites_added_ || event.count > run_.sites.size() - sites_added_) {
    return refuse(
        fmt::format("the detector learned of {} instructions that are not described", event.count));
  }
  std::vector<wire::SiteInfo> sites;
  sites.reserve(event.count);
  for (std::size_t i = 0; i < event.count; ++i) {
    sites.push_back(run_.sites[sites_added_ + i].info);
  }
  replayer_.detector().add_sites(event.first, sites);
  sites_added_ += event.count;
  return true;
}

bool ProcessReplay::on(const KernelNamed& event) {
  kernels_.push_back(event.name);
  return true;
}

bool ProcessReplay::on(const LaunchDescribed& event) {
  if (index_of(event.id) != launches_.size() + 1 || event.kernel >= kernels_.size()) {
    return refuse(fmt::format("launch {} is out of place", index_of(event.id)));
  }
  launches_.push_back({.described = event});
  return true;
}

bool ProcessReplay::on(const LaunchBegun& event) {
  const detector::LaunchInfo& info = event.launch;
  Launch* const launch = find(info.id);
  const bool is_after_itself = std::ranges::any_of(info.ordered_after, [&](WorkId before) {
    return !before.is_copy() && before.launch() >= info.id;
  });
  if (launch == nullptr || launch->has_begun || is_after_itself) {
    return refuse(fmt::format("launch {} begins out of place", index_of(info.id)));
  }
  launch->has_begun = true;
  launch->may_have_records = can_run(info);
  replayer_.detector().begin_launch(info);
  return true;
}

bool ProcessReplay::on(const RecordApplied& event) {
  const Launch* const launch = find(event.launch);
  if (launch == nullptr || !launch->may_have_records) {
    return refuse(
        fmt::format("a record is of launch {}, which did not run", index_of(event.launch)));
  }
  replayer_.apply(event.launch, event.record);
  return true;
}

bool ProcessReplay::on(const LaunchEnded& event) {
  replayer_.detector().end_launch(event.launch);
  return true;
}

bool ProcessReplay::on(const MemoryForgotten& event) {
  if (event.bytes > std::numeric_limits<std::uint64_t>::max() - event.address) {
    return refuse("memory was freed that no address space holds");
  }
  replayer_.detector().forget(event.address, event.bytes);
  return true;
}

bool ProcessReplay::on(const PlaceNamed& event) {
  places_[{event.stack, event.kernel}] = event.place;
  return true;
}

bool ProcessReplay::on(const AllocationKnown& event) {
  run_.allocations.push_back(event.allocation);
  return true;
}

bool ProcessReplay::on(const KernelCounted& event) {
  run_.kernels.push_back(event.kernel);
  return true;
}

bool ProcessReplay::on(const InstructionNotCovered& event) {
  run_.not_covered.push_back(event.instruction);
  return true;
}

bool ProcessReplay::on(const RegisterHazardFound& event) {
  run_.register_hazards.push_back(event.hazard);
  return true;
}

bool ProcessReplay::on(const MemoryErrorFound& event) {
  run_.memory_errors.push_back(event.error);
  return true;
}

bool ProcessReplay::on(const RunEnd& event) {
  end_ = event;
  return true;
}

bool ProcessReplay::on(const RecordingFailed& event) {
  return refuse("it could not be written on: " + event.reason);
}

bool ProcessReplay::on(const ProgramEnded& /*event*/) {
  return refuse("an event of the whole run is in it");
}

bool ProcessReplay::on(const CopyDescribed& event) {
  if (index_of(event.call) != copies_.size()) {
    return refuse(fmt::format("copy {} is out of place", index_of(event.call)));
  }
  copies_.push_back(event);
  return true;
}

bool ProcessReplay::on(const CopyBegun& event) {
  const detector::CopyInfo& copy = event.copy;
  if (copy.id == detector::CopyId{} || index_of(copy.call) >= copies_.size() ||
      !std::ranges::all_of(copy.accesses, is_possible)) {
    return refuse(fmt::format("copy {} cannot be", index_of(copy.id)));
  }
  replayer_.detector().apply_copy(copy);
  return true;
}

bool ProcessReplay::on(const TensorMapKnown& event) {
  replayer_.detector().add_tensor_map(event.number, event.map);
  return true;
}

bool ProcessReplay::on(const CopyPlaceNamed& event) {
  copy_places_[event.stack] = event.place;
  return true;
}

void ProcessReplay::add_named_copies() {
  std::set<detector::CallId> named;
  for (const detector::RaceEvent& race : run_.findings.races) {
    for (const detector::AccessSite site : {race.first.site, race.second.site}) {
      if (site.is_call()) {
        named.insert(site.call());
      }
    }
  }
  for (const detector::CallId call : named) {
    const CopyDescribed& copy = copies_[index_of(call)];
    const auto place = copy_places_.find(copy.stack);
    run_.copies.push_back(
        {.call = call,
         .operation = copy.operation,
         .stream = copy.stream,
         .host_stack = {},
         .place = place == copy_places_.end() ? ptx::SourceFrame{} : place->second});
  }
}

void ProcessReplay::add_named_launches() {
  std::set<LaunchId> named;
  for (const detector::RaceEvent& race : run_.findings.races) {
    for (const WorkId work : {race.first.thread.launch, race.second.thread.launch}) {
      if (!work.is_copy()) {
        named.insert(work.launch());
      }
    }
  }
  for (const detector::BarrierDivergence& divergence : run_.findings.divergences) {
    named.insert(divergence.launch);
  }
  for (const report::MemoryErrorRecord& error : run_.memory_errors) {
    named.insert(error.launch);
  }
  for (const LaunchId id : named) {
    const Launch* const launch = find(id);
    if (launch == nullptr) {
      continue;
    }
    const LaunchDescribed& line = launch->described;
    const auto place = places_.find({line.stack, line.kernel});
    run_.launches.push_back({.id = id,
                             .kernel = kernels_[line.kernel],
                             .stream = line.stream,
                             .grid = line.grid,
                             .block = line.block,
                             .logger_bytes = line.logger_bytes,
                             .host_stack = {},
                             .launched_from = place == places_.end() ? "" : place->second});
  }
}

// Without an end, what is known is what was begun.
void ProcessReplay::describe_unfinished_run() {
  if (!run_.kernels.empty()) {
    return;
  }
  std::map<std::uint32_t, std::uint64_t> launches_of;
  for (const Launch& launch : launches_) {
    if (launch.has_begun) {
      ++launches_of[launch.described.kernel];
      ++run_.launch_count;
    }
  }
  for (const auto& [kernel, launches] : launches_of) {
    run_.kernels.push_back({.name = kernels_[kernel],
                            .instrumented = true,
                            .reason = "",
                            .launches = launches,
                            .synchronises = false,
                            .unchecked_launches = 0});
  }
  if (const std::uint64_t rejected = replayer_.rejected(); rejected != 0) {
    run_.problems.push_back(report::malformed_records_gap(rejected));
  }
}

report::RunData ProcessReplay::run_data() {
  run_.findings = replayer_.detector().findings();
  run_.used_cuda = true;
  if (end_) {
    run_.launch_count = end_->launch_count;
    run_.device = end_->device;
    run_.problems = end_->problems;
    run_.blocked = end_->blocked;
    run_.option_error = end_->option_error;
    run_.tool_failure = end_->tool_failure;
    run_.used_cuda = end_->used_cuda;
    run_.own_status =
        end_->own_status ? static_cast<int>(*end_->own_status) : report::kUnknownStatus;
  } else {
    describe_unfinished_run();
  }
  add_named_launches();
  add_named_copies();
  return run_;
}

}  // namespace barracuda::trace
