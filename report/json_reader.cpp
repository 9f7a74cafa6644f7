#include "report/json_reader.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text_lines.h"
#include "report/bug.h"
#include "report/coverage.h"

namespace barracuda::report {
namespace {

using ParsedJson = nlohmann::json;

// The field's value; what it is by default where it is null or not there.
template <typename Value>
Value value_of(const ParsedJson& object, const char* field, const Value& otherwise = {}) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? otherwise : found->get<Value>();
}

bool has(const ParsedJson& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && !found->is_null();
}

const ParsedJson& list_of(const ParsedJson& object, const char* field) {
  static const ParsedJson* const none = new ParsedJson(ParsedJson::array());
  const auto found = object.find(field);
  return found == object.end() || !found->is_array() ? *none : *found;
}

Frame frame_of(const ParsedJson& json) {
  return {.function = value_of<std::string>(json, "function"),
          .file = value_of<std::string>(json, "file"),
          .line = value_of<std::uint32_t>(json, "line")};
}

AccessOperation operation_of(const std::string& name) {
  for (const AccessOperation operation :
       {AccessOperation::kRead, AccessOperation::kWrite, AccessOperation::kAtomic,
        AccessOperation::kCopy, AccessOperation::kMemset, AccessOperation::kConstants,
        AccessOperation::kAllocation, AccessOperation::kFree, AccessOperation::kExit}) {
    if (name == name_of(operation)) {
      return operation;
    }
  }
  return AccessOperation::kUnknown;
}

detector::SyncWhen when_of(const std::string& name) {
  for (const auto when : {detector::SyncWhen::kBefore, detector::SyncWhen::kAfter}) {
    if (name == name_of(when)) {
      return when;
    }
  }
  return detector::SyncWhen::kUnclear;
}

Access access_of(const ParsedJson& json) {
  Access access;
  access.operation = operation_of(value_of<std::string>(json, "op"));
  access.note = value_of<std::string>(json, "note");
  access.size = value_of<std::uint64_t>(json, "size");
  access.address = value_of<std::uint64_t>(json, "address");
  access.has_address = has(json, "address");
  access.place = frame_of(json);
  std::vector<Frame> frames;
  for (const ParsedJson& frame : list_of(json, "inlined")) {
    frames.push_back(frame_of(frame));
  }
  const auto callers = std::min(value_of<std::size_t>(json, "callers"), frames.size());
  const auto first_caller = frames.end() - static_cast<std::ptrdiff_t>(callers);
  access.inlined.assign(frames.begin(), first_caller);
  access.callers.assign(first_caller, frames.end());
  access.source = value_of<std::string>(json, "source");
  access.object = value_of<std::string>(json, "variable");
  access.instruction = value_of<std::string>(json, "instruction");
  access.ptx_line = value_of<std::uint32_t>(json, "ptx_line");
  access.kernel = value_of<std::string>(json, "kernel");
  access.launch = value_of<std::uint32_t>(json, "launch");
  access.stream = value_of<std::uint64_t>(json, "stream");
  access.is_by_host = !has(json, "launch") && has(json, "stream");
  access.has_thread = has(json, "thread");
  access.thread = value_of<Coordinates>(json, "thread");
  access.block = value_of<Coordinates>(json, "block");
  access.grid = value_of<Coordinates>(json, "grid");
  access.warp = value_of<std::uint32_t>(json, "warp");
  access.lane = value_of<std::uint32_t>(json, "lane");
  access.launched_from = value_of<std::string>(json, "launched_from");
  if (has(json, "last_sync")) {
    access.last_sync = value_of<std::string>(json["last_sync"], "instruction");
    access.last_sync_place = frame_of(json["last_sync"]);
    access.last_sync_source = value_of<std::string>(json["last_sync"], "source");
  }
  if (has(json, "syncs")) {
    access.has_all_syncs = value_of<bool>(json["syncs"], "complete");
    for (const ParsedJson& step : list_of(json["syncs"], "steps")) {
      access.syncs.push_back({.when = when_of(value_of<std::string>(step, "when")),
                              .instruction = value_of<std::string>(step, "instruction"),
                              .place = frame_of(step)});
    }
  } else if (!json.contains("syncs") &&
             access.last_sync_place != Frame{}) {  // an older report has this alone
    access.syncs = {{.instruction = access.last_sync, .place = access.last_sync_place}};
  }
  return access;
}

std::vector<Process> processes_of(const ParsedJson& json) {
  std::vector<Process> processes;
  for (const ParsedJson& process : list_of(json, "processes")) {
    processes.push_back({.program = value_of<std::string>(process, "program"),
                         .pid = value_of<std::int64_t>(process, "pid"),
                         .rank = value_of<std::int64_t>(process, "rank", Process::kNoRank)});
  }
  return processes;
}

void take_location(Finding& finding, const ParsedJson& json) {
  constexpr std::string_view kOthers = ", among other places";
  finding.location = value_of<std::string>(json, "location");
  finding.has_other_places = value_of<bool>(json, "other_places");
  // An older report has this in the location's text.
  if (!has(json, "other_places") && finding.location.ends_with(kOthers)) {
    finding.location.resize(finding.location.size() - kOthers.size());
    finding.has_other_places = true;
  }
}

// What a bug and each of its variants say alike.
Finding variant_of(const ParsedJson& json) {
  Finding finding;
  finding.severity = value_of<std::string>(json, "severity") == "warning"
                         ? FindingSeverity::kWarning
                         : FindingSeverity::kError;
  finding.kind = value_of<std::string>(json, "kind");
  finding.count = value_of<std::uint64_t>(json, "count");
  finding.missing = value_of<std::string>(json, "missing");
  take_location(finding, json);
  for (const ParsedJson& access : list_of(json, "accesses")) {
    finding.accesses.push_back(access_of(access));
  }
  finding.processes = processes_of(json);
  return finding;
}

void add_bug(Report& report, const ParsedJson& json, FindingType type) {
  std::vector<Finding> variants = {variant_of(json)};
  for (const ParsedJson& variant : list_of(json, "variants")) {
    variants.push_back(variant_of(variant));
    variants.front().count -= std::min(variants.front().count, variants.back().count);
  }
  const auto fingerprint = value_of<std::string>(json, "fingerprint");
  std::erase_if(report.findings,
                [&](const Finding& earlier) { return earlier.fingerprint == fingerprint; });
  for (Finding& variant : variants) {
    variant.type = type;
    variant.space = value_of<std::string>(json, "space");
    variant.fingerprint = fingerprint;
    report.findings.push_back(std::move(variant));
  }
  report.model = value_of<std::string>(json, "model", report.model);
}

// The lists of names, and of what was not covered, hold the libraries' as well.
void take_libraries(Coverage& coverage, const ParsedJson& libraries) {
  using Names = std::set<std::string>;
  for (const auto& [name, kernels] : libraries.items()) {
    LibraryKernels& library = coverage.libraries[name];
    library.instrumented = value_of<Names>(kernels, "names");
    library.not_instrumented = value_of<Names>(kernels, "not_instrumented");
    for (const std::string& kernel : library.instrumented) {
      coverage.instrumented.erase(kernel);
    }
    for (const std::string& kernel : library.not_instrumented) {
      coverage.not_instrumented.erase(kernel);
    }
  }
  std::erase(coverage.gaps, library_gap(coverage));
}

void add_summary(Report& report, const ParsedJson& json) {
  using Names = std::set<std::string>;
  report.model = value_of<std::string>(json, "model", report.model);
  report.device = value_of<std::string>(json, "device");
  report.known = value_of<std::uint64_t>(json, "known");
  report.suppressed = value_of<std::uint64_t>(json, "suppressed");
  report.suppressions.clear();
  for (const ParsedJson& use : list_of(json, "suppressions")) {
    report.suppressions.push_back({.rule = value_of<std::string>(use, "rule"),
                                   .count = value_of<std::uint64_t>(use, "count"),
                                   .reason = value_of<std::string>(use, "reason")});
  }
  const auto kernels = value_of<ParsedJson>(json, "kernels", ParsedJson::object());
  report.coverage = {.launches = value_of<std::uint64_t>(json, "launches"),
                     .instrumented = value_of<Names>(kernels, "names"),
                     .not_instrumented = value_of<Names>(kernels, "not_instrumented"),
                     .libraries = {},
                     .gaps = value_of<std::vector<std::string>>(json, "not_covered")};
  take_libraries(report.coverage, value_of<ParsedJson>(kernels, "libraries", ParsedJson::object()));
  report.processes = processes_of(json);
}

// Whether it was the summary.
bool add_line(Report& report, const ParsedJson& json) {
  const auto type = value_of<std::string>(json, "type");
  if (type == "summary") {
    add_summary(report, json);
    return true;
  }
  for (const FindingType known : {FindingType::kRace, FindingType::kBarrierDivergence,
                                  FindingType::kMemoryError, FindingType::kAsyncRegister}) {
    if (type == name_of(known)) {
      add_bug(report, json, known);
    }
  }
  return false;
}

}  // namespace

Expected<Report> read_json_report(std::string_view text, const std::string& file) {
  Report report;
  bool has_summary = false;
  TextLines lines(text);
  while (const auto line = lines.next()) {
    if (line->empty()) {
      continue;
    }
    try {
      const ParsedJson json = ParsedJson::parse(*line);
      if (value_of<int>(json, "schema") < 2) {
        return unexpected({.message = "this is no JSON report of schema 2: its findings have no "
                                      "fingerprints",
                           .file = file,
                           .line = lines.number()});
      }
      has_summary = add_line(report, json) || has_summary;
    } catch (const ParsedJson::exception& error) {
      if (!lines.has_end() && !has_summary) {
        break;  // who wrote it was killed in the midst
      }
      const bool is_json = dynamic_cast<const ParsedJson::parse_error*>(&error) == nullptr;
      return unexpected({.message = std::string("this is no JSON report: ") +
                                    (is_json ? error.what() : "the line is not JSON"),
                         .file = file,
                         .line = lines.number()});
    }
  }
  if (!has_summary) {
    report.coverage.gaps.push_back(file + " has no summary: what wrote it did not come to its end");
  }
  return report;
}

}  // namespace barracuda::report
