#include "report/resolve.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "ptx/statement_name.h"
#include "report/allocation_place.h"
#include "report/awaited_flags.h"
#include "report/between_blocks.h"
#include "report/bug.h"
#include "report/coverage.h"
#include "report/detector_terms.h"
#include "report/element_name.h"
#include "report/fingerprint.h"
#include "report/host_stack.h"
#include "report/line_functions.h"
#include "report/loop_rounds.h"
#include "report/missing_order.h"
#include "report/own_frame.h"
#include "report/python_arrays.h"
#include "report/race_sites.h"
#include "report/shared_places.h"
#include "report/site_lines.h"
#include "report/source_text.h"
#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

// The block that leaves touches nothing.
void mark_exit(Access& access) {
  access.operation = AccessOperation::kExit;
  access.has_address = false;
}

Coordinates coordinates(std::uint64_t linear, const detector::Dim3& extent) {
  const std::uint64_t x = std::max(extent.x, 1U);
  const std::uint64_t y = std::max(extent.y, 1U);
  return {static_cast<std::uint32_t>(linear % x), static_cast<std::uint32_t>(linear / x % y),
          static_cast<std::uint32_t>(linear / (x * y))};
}

class Resolver {
 public:
  Resolver(const RunData& run, SourceText& sources)
      : run_(run), sources_(sources), lines_(run.sites), functions_(run.sites), arrays_(run.sites) {
    for (const LaunchRecord& launch : run.launches) {
      launches_.emplace(index_of(launch.id), &launch);
    }
    for (const CopyRecord& copy : run.copies) {
      copies_.emplace(copy.call, &copy);
    }
  }

  Finding race(const detector::RaceEvent& event, const LoopRounds& rounds,
               const std::optional<AwaitedFlag>& flag) {
    Finding finding;
    finding.type = FindingType::kRace;
    finding.severity = severity_of(event.severity);
    finding.kind = name_of(event.kind);
    finding.count = event.count;
    finding.accesses = {access(event.first), access(event.second)};
    if (event.kind == detector::RaceKind::kUseAfterExit) {
      const bool is_last = event.second.size == 0;
      mark_exit(is_last ? finding.accesses.back() : finding.accesses.front());
    }
    const bool is_shared = event.first.space != wire::AddressSpace::kGlobal;
    finding.space = is_shared ? "shared" : "global";
    finding.missing = missing_order(event, run_.sites, finding.accesses.front(),
                                    finding.accesses.back(), rounds, flag);
    finding.lacks = {lack(event)};
    for (Access& each : finding.accesses) {
      each.source = sources_.text_of(each.place);
    }
    // A copy begins somewhere; what the kernel touched is the place.
    const bool is_copy_first = event.first.site.is_call();
    finding.location =
        is_shared
            ? shared_location(event, finding)
            : global_location(event, (is_copy_first ? event.second : event.first).address, finding);
    finding.has_other_places = event.is_elsewhere;
    for (const detector::RaceAccess* const raw : {&event.first, &event.second}) {
      Access& each = finding.accesses[raw == &event.first ? 0 : 1];
      if (PythonArrays::is_one(each.object)) {
        each.object = arrays_.name(finding, *site(raw->site.instruction()));
      }
    }
    return finding;
  }

  Finding divergence(const detector::BarrierDivergence& event) {
    Finding finding;
    finding.type = FindingType::kBarrierDivergence;
    finding.severity = severity_of(event.severity);
    finding.count = event.count;
    finding.accesses.push_back(access(event.arrived));
    Access& arrived = finding.accesses.back();
    arrived.has_address = false;
    arrived.note = fmt::format("waits at barrier {}", event.barrier);
    finding.missing = event.severity == detector::Severity::kWarning
                          ? fmt::format(
                                "lanes of one warp of {} left the kernel, and others of it wait at "
                                "barrier {}: PTX wants all lanes of a warp to come there, or none",
                                block_name(arrived), event.barrier)
                          : fmt::format("not all threads of {} reach barrier {} together",
                                        block_name(arrived), event.barrier);
    for (const detector::RaceAccess& place : event.elsewhere) {
      finding.accesses.push_back(access(place));
      finding.accesses.back().has_address = false;
      finding.accesses.back().note = note_elsewhere(place.site.instruction());
    }
    return finding;
  }

  Finding memory_error(const MemoryErrorRecord& error) {
    Finding finding;
    finding.type = type_of(error.end);
    finding.missing = error.what;
    if (error.end == KernelEnd::kTimeout) {
      finding.missing = error.kernel.empty()
                            ? "work " + error.what
                            : fmt::format("kernel {} {}", demangle(error.kernel), error.what);
    }
    for (const StandingRecord& standing : error.standing) {
      finding.accesses.push_back(standing_place(error, standing));
    }
    if (!error.standing.empty()) {
      return finding;
    }
    Access place;
    place.inlined = resolved(error.inlined);
    const Frame where = resolved(error.where);
    if (place.inlined.empty() && where != Frame{}) {
      place.inlined.push_back(where);
    }
    place.place = own_frame(place.inlined, {}, demangle(error.kernel));
    place.kernel = demangle(error.kernel);
    fill_launch(place, error.launch);
    if (error.size != 0) {
      place.operation = error.is_write ? AccessOperation::kWrite : AccessOperation::kRead;
      place.size = error.size;
      place.address = error.address;
      place.has_address = true;
      finding.location = allocation_at(run_.allocations, error.address);
      // An address in shared or local memory lies beside no allocation.
      const bool is_global = error.what.find(" shared ") == error.what.npos &&
                             error.what.find(" local ") == error.what.npos &&
                             error.what.find("shared memory)") == error.what.npos;
      if (finding.location.empty() && is_global) {
        finding.location = beside_allocation(run_.allocations, error.address, error.size);
      }
    } else if (error.has_thread) {
      place.note = "ended its kernel";
    } else if (error.end == KernelEnd::kMemoryError && place.inlined.empty()) {
      place.note = "ended its kernel; the GPU does not say which thread or where";
    }
    if (error.has_thread) {
      fill_thread(place, error.launch, error.block, error.thread);
    }
    finding.accesses.push_back(std::move(place));
    return finding;
  }

  // In the order of the code.
  Finding async_register(const ptx::RegisterHazard& hazard) {
    using Kind = ptx::RegisterHazard::Kind;
    Finding finding;
    finding.type = FindingType::kAsyncRegister;
    const bool is_read = hazard.kind == Kind::kReadInFlight;
    const bool lacks_fence = hazard.kind == Kind::kFenceMissing;
    finding.missing = lacks_fence
                          ? fmt::format(
                                "register {} is written, and a product uses it without a "
                                "wgmma.fence between the two",
                                hazard.register_name)
                          : fmt::format(
                                "register {} is {} before wgmma.wait_group has waited for the "
                                "product that uses it",
                                hazard.register_name, is_read ? "read" : "written");
    const auto add = [&](const ptx::RegisterHazard::Place& place, const char* does) {
      Access access;
      access.note = fmt::format("{} ({})", does, place.instruction);
      access.inlined = resolved(place.frames);
      access.place = own_frame(access.inlined, {}, demangle(hazard.function));
      access.source = sources_.text_of(access.place);
      access.instruction = place.instruction;
      access.ptx_line = place.ptx_line;
      access.kernel = demangle(hazard.function);
      finding.accesses.push_back(std::move(access));
    };
    const char* const touches = is_read ? "reads the register" : "writes the register";
    if (lacks_fence) {
      add(hazard.touch, touches);
    }
    add(hazard.product, "issues the product");
    if (!lacks_fence) {
      add(hazard.touch, touches);
    }
    return finding;
  }

 private:
  [[nodiscard]] Lack lack(const detector::RaceEvent& event) const {
    const RaceSites sites(event, run_.sites);
    const auto sync = [this](const detector::RaceAccess& access) {
      return access.last_sync == detector::LastSync::kKnown ? statement(access.last_sync_site) : "";
    };
    return {.missing = event.missing,
            .kind = event.kind,
            .scope = event.needed_scope,
            .first = statement(event.first.site),
            .second = statement(event.second.site),
            .about = event.about ? statement(*event.about) : "",
            .first_sync = sync(event.first),
            .second_sync = sync(event.second),
            .are_updates = sites.is_update(event.first.site) && sites.is_update(event.second.site)};
  }

  // One variable by name, neither one of several nor what a parameter points to.
  static std::string object_of(const ptx::Site& site) {
    const bool is_one = site.variable.find_first_of("*,+") == std::string::npos &&
                        site.variable.find("_param_") == std::string::npos;
    return is_one ? place_of_variable(site.variable).name : "";
  }

  [[nodiscard]] std::string statement(detector::AccessSite at) const {
    const ptx::Site* const known = at.is_call() ? nullptr : site(at.instruction());
    return known == nullptr || known->ordinal == 0
               ? ""
               : to_string(
                     ptx::StatementName{.function = known->function, .ordinal = known->ordinal});
  }

  Access standing_place(const MemoryErrorRecord& error, const StandingRecord& standing) {
    Access place;
    place.note = standing.waits ? "waits here" : "runs here";
    place.inlined = resolved(standing.frames);
    place.place = own_frame(place.inlined, {}, demangle(error.kernel));
    place.kernel = demangle(error.kernel);
    fill_launch(place, error.launch);
    fill_thread(place, error.launch, standing.block, standing.thread);
    return place;
  }

  [[nodiscard]] const ptx::Site* site(wire::SiteId id) const {
    return index_of(id) < run_.sites.size() ? &run_.sites[index_of(id)] : nullptr;
  }

  [[nodiscard]] const LaunchRecord* launch(detector::LaunchId id) const {
    const auto found = launches_.find(index_of(id));
    return found == launches_.end() ? nullptr : found->second;
  }

  Access copy_access(const detector::RaceAccess& raw) {
    Access result;
    result.is_by_host = true;
    result.operation = AccessOperation::kCopy;
    result.size = raw.size;
    result.address = raw.address;
    result.has_address = true;
    const auto found = copies_.find(raw.site.call());
    if (found == copies_.end()) {
      return result;
    }
    const CopyRecord& copy = *found->second;
    result.operation = operation_of(copy.operation);
    result.stream = copy.stream;
    if (copy.host_stack.empty()) {
      result.place = {
          .function = copy.place.function, .file = copy.place.file, .line = copy.place.line};
      if (result.place != Frame{}) {
        result.inlined.push_back(result.place);
      }
      return result;
    }
    const std::vector<HostFrame> stack = frames_of(copy.host_stack);
    place(result, stack);
    if (!symbols_->has_library()) {
      result.host_stack = stack;
    }
    return result;
  }

  Access access(const detector::RaceAccess& raw) {
    if (raw.site.is_call()) {
      return copy_access(raw);
    }
    Access result;
    std::string function;
    if (const ptx::Site* const at = site(raw.site.instruction())) {
      function = demangle(at->function);
      result.operation = operation_of(*at);
      result.inlined = resolved(at->frames);
      // The outermost frame is the function that the instruction stands in.
      if (!result.inlined.empty() && result.inlined.back().function.empty()) {
        result.inlined.back().function = function;
      }
      if (const std::string* const inlined = functions_.of(*at)) {
        result.inlined.front().function = demangle(*inlined);
      }
      result.instruction = at->instruction;
      result.ptx_line = at->ptx_line;
      result.object = object_of(*at);
      SiteLines::Part part = lines_.part_of(*at);
      result.statement = std::move(part.statement);
      result.order = part.order;
      result.variable = part.variable;
    }
    for (const wire::SiteId call : raw.call_stack) {
      add_caller(result.callers, call);
    }
    result.place = own_frame(result.inlined, result.callers, function);
    if (result.place.function.empty()) {
      result.place.function = function;
    }
    result.size = raw.size;
    result.address = raw.address;
    result.has_address = true;
    fill_launch(result, raw.thread.launch.launch());
    if (const LaunchRecord* const at = launch(raw.thread.launch.launch())) {
      result.has_thread = true;
      result.block = coordinates(raw.thread.cta, at->grid);
      result.grid = {at->grid.x, at->grid.y, at->grid.z};
      result.thread = coordinates(
          std::uint64_t{raw.thread.warp} * wire::kWarpLanes + raw.thread.lane, at->block);
    } else {
      result.block = {raw.thread.cta, 0, 0};
    }
    result.warp = raw.thread.warp;
    result.lane = raw.thread.lane;
    fill_syncs(result, raw);
    return result;
  }

  [[nodiscard]] Sync sync_of(const ptx::Site& at, detector::SyncWhen when) const {
    return {.when = when,
            .instruction = at.instruction,
            .place = own_frame(resolved(at.frames), {}, demangle(at.function))};
  }

  // The thread may have come to a barrier that is not known of.
  [[nodiscard]] bool leaves_out_barriers(const detector::RaceAccess& raw) const {
    const LaunchRecord* const at = launch(raw.thread.launch.launch());
    return at != nullptr && at->leaves_out_barriers;
  }

  void fill_syncs(Access& access, const detector::RaceAccess& raw) const {
    for (const detector::SyncStep& step : raw.syncs) {
      if (const ptx::Site* const at = site(step.site)) {
        access.syncs.push_back(sync_of(*at, step.when));
      }
    }
    access.has_all_syncs = raw.has_all_syncs;
    if (raw.last_sync == detector::LastSync::kNone ||
        raw.last_sync == detector::LastSync::kUnknown) {
      const bool is_none = raw.last_sync == detector::LastSync::kNone && !leaves_out_barriers(raw);
      access.last_sync = is_none ? "none" : "unknown";
      return;
    }
    const ptx::Site* const at =
        raw.last_sync == detector::LastSync::kKnown ? site(raw.last_sync_site) : nullptr;
    if (at != nullptr) {
      const Sync last = sync_of(*at, detector::SyncWhen::kBefore);
      access.last_sync = last.instruction;
      access.last_sync_place = last.place;
    }
  }

  void add_caller(std::vector<Frame>& callers, wire::SiteId call) const {
    const ptx::Site* const at = site(call);
    if (at == nullptr) {
      return;
    }
    if (at->frames.empty()) {
      callers.push_back({.function = demangle(at->function), .file = "", .line = 0});
    }
    for (const ptx::SourceFrame& frame : at->frames) {
      callers.push_back(resolved(frame));
    }
  }

  void fill_launch(Access& access, detector::LaunchId id) {
    access.launch = index_of(id);
    const LaunchRecord* const at = launch(id);
    if (at == nullptr) {
      return;
    }
    access.kernel = demangle(at->kernel);
    access.stream = at->stream;
    if (at->host_stack.empty()) {
      access.launched_from = at->launched_from;
      return;
    }
    const Access& known = launched_from(*at);
    access.launched_from = known.launched_from;
    access.module = known.module;
    access.host_stack = known.host_stack;
  }

  void fill_thread(Access& access, detector::LaunchId id, const detector::Dim3& block,
                   const detector::Dim3& thread) const {
    const LaunchRecord* const at = launch(id);
    access.has_thread = true;
    access.block = {block.x, block.y, block.z};
    access.thread = {thread.x, thread.y, thread.z};
    if (at != nullptr) {
      access.grid = {at->grid.x, at->grid.y, at->grid.z};
      const std::uint64_t linear =
          (std::uint64_t{thread.z} * at->block.y + thread.y) * at->block.x + thread.x;
      access.warp = static_cast<std::uint32_t>(linear / wire::kWarpLanes);
      access.lane = static_cast<std::uint32_t>(linear % wire::kWarpLanes);
    }
  }

  // What an access of the launch says of its place.
  const Access& launched_from(const LaunchRecord& launch) {
    const auto [cached, is_new] = launch_places_.try_emplace(index_of(launch.id));
    Access& access = cached->second;
    if (is_new) {
      const std::vector<HostFrame> stack = frames_of(launch.host_stack);
      access.kernel = demangle(launch.kernel);
      place(access, stack);
      if (!symbols_->has_library()) {
        access.host_stack = stack;
      }
    }
    return access;
  }

  std::vector<HostFrame> frames_of(const std::vector<std::uint64_t>& addresses) {
    if (!symbols_) {
      symbols_ = std::make_unique<HostSymbols>();
    }
    std::vector<HostFrame> stack;
    stack.reserve(addresses.size());
    for (const std::uint64_t address : addresses) {
      const std::vector<HostFrame> frames = symbols_->look_up(address);
      stack.insert(stack.end(), frames.begin(), frames.end());
    }
    return stack;
  }

  [[nodiscard]] std::string note_elsewhere(wire::SiteId id) const {
    const ptx::Site* const at = site(id);
    const bool has_left = at != nullptr && at->info.operation == wire::Operation::kExit;
    return has_left ? "has left the kernel" : "is at another barrier";
  }

  // Of an array of structures, whose members are accessed: the size of an access is not that of an
  // element.
  [[nodiscard]] bool have_members(const detector::RaceEvent& event) const {
    return std::ranges::any_of(std::array{&event.first, &event.second}, [&](const auto* raw) {
      const ptx::Site* const at = raw->site.is_call() ? nullptr : site(raw->site.instruction());
      return at != nullptr && place_of_variable(at->variable).has_members;
    });
  }

  // By whichever access tells it: a copy, a matrix and a pointer into another block's memory have
  // addresses that lead to no name.
  [[nodiscard]] std::string shared_variable(const detector::RaceEvent& event,
                                            const Finding& finding) {
    for (const detector::RaceAccess* const raw : {&event.first, &event.second}) {
      const ptx::Site* const at = raw->site.is_call() ? nullptr : site(raw->site.instruction());
      if (at == nullptr || object_of(*at).empty()) {
        continue;
      }
      const ptx::Site placed = with_shared_place(run_, *at, launch(raw->thread.launch.launch()));
      const VariablePlace place = place_of_variable(placed.variable);
      if (PythonArrays::is_one(place.name)) {
        return fmt::format(" ({})", arrays_.element(finding, placed));
      }
      if (have_members(event)) {
        return fmt::format(" ({})", place.name);
      }
      return fmt::format(
          " ({})", place.element || !place.is_placed
                       ? element_name(finding, place)
                       : element_name(finding, place.name, place.offset, place.bytes, &sources_));
    }
    return "";
  }

  // Whose shared memory it is: blocks of a cluster access each other's.
  [[nodiscard]] Access owner_of(const detector::RaceEvent& event, const Finding& finding) const {
    const bool has_left = finding.accesses.back().operation == AccessOperation::kExit;
    Access owner = has_left ? finding.accesses.back() : finding.accesses.front();
    if (event.shared_of) {
      const LaunchRecord* const at = launch(event.first.thread.launch.launch());
      if (at != nullptr) {
        owner.block = coordinates(*event.shared_of, at->grid);
      }
    }
    return owner;
  }

  [[nodiscard]] std::string shared_location(const detector::RaceEvent& event,
                                            const Finding& finding) {
    const detector::RaceAccess& raw = event.first;
    const std::string of =
        raw.space == wire::AddressSpace::kSharedCluster
            ? fmt::format("the block with rank {} in the cluster", raw.address >> 32)
            : block_name(owner_of(event, finding));
    return fmt::format("byte {} of the shared memory of {}{}", raw.address & 0xffffffffU, of,
                       shared_variable(event, finding));
  }

  // Of a module's variable also which element.
  [[nodiscard]] std::string global_location(const detector::RaceEvent& event, std::uint64_t address,
                                            const Finding& finding) const {
    std::string text = allocation_at(run_.allocations, address);
    const AllocationRecord* const variable = variable_at(run_.allocations, address);
    if (variable == nullptr || have_members(event)) {
      return text;
    }
    const std::string name = variable_name(std::string(variable_in(variable->description)));
    const std::string element =
        element_name(finding, name, variable->address, variable->bytes, &sources_);
    const std::string index = element.substr(name.size());
    return index.empty() ? text : text.substr(0, text.size() - 1) + index + ")";
  }

  const RunData& run_;
  SourceText& sources_;
  SiteLines lines_;
  LineFunctions functions_;
  PythonArrays arrays_;
  std::unordered_map<std::uint32_t, const LaunchRecord*> launches_;
  std::unordered_map<detector::CallId, const CopyRecord*> copies_;
  std::unordered_map<std::uint32_t, Access> launch_places_;
  std::unique_ptr<HostSymbols> symbols_;
};

}  // namespace

Report resolve(const RunData& run, const Options& options) {
  Report report;
  SourceText sources;
  Resolver resolver(run, sources);
  if (run.process.pid != 0) {
    report.processes = {run.process};
  }
  // The compiler makes several instructions of one source line (unrolled and peeled loops, branches
  // that it duplicates): pairs of sites that a reader cannot tell apart are one finding.
  const auto add = [&](Finding finding) {
    for (Access& access : finding.accesses) {
      access.source = sources.text_of(access.place);
      access.last_sync_source = sources.text_of(access.last_sync_place);
    }
    finding.fingerprint = fingerprint_of(finding, sources);
    finding.processes = report.processes;
    const std::string location = finding.location;
    Finding& kept = add_finding(report.findings, std::move(finding));
    kept.has_other_places = kept.has_other_places || kept.location != location;
  };
  const std::vector<detector::RaceEvent> races = with_blocks_first(run.findings.races, run.sites);
  const std::vector<LoopRounds> rounds = loop_rounds(races, run.sites);
  const AwaitedFlags flags(races, run.sites);
  for (std::size_t number = 0; number < races.size(); ++number) {
    add(resolver.race(races[number], rounds[number], flags.between(races[number])));
  }
  for (const detector::BarrierDivergence& divergence : run.findings.divergences) {
    add(resolver.divergence(divergence));
  }
  for (const MemoryErrorRecord& error : run.memory_errors) {
    add(resolver.memory_error(error));
  }
  for (const ptx::RegisterHazard& hazard : run.register_hazards) {
    add(resolver.async_register(hazard));
  }
  report.coverage = coverage_of(run);
  report.model = options.model;
  report.device = run.device;
  report.blocked = run.blocked;
  report.option_error = run.option_error;
  report.tool_failure = run.tool_failure;
  return report;
}

}  // namespace barracuda::report
