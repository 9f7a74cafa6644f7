#include "report/sarif.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/percent_code.h"
#include "report/bug.h"
#include "report/coverage.h"
#include "report/findings_page.h"
#include "report/json_parts.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

constexpr const char* kRoot = "SRCROOT";
// In partialFingerprints; bump it with what report/fingerprint.h says is one bug.
constexpr const char* kFingerprint = "barracuda/v1";

// What can be found. The identifier is part of every alert: it never changes.
struct Rule {
  FindingType type;
  const char* id;
  const char* title;
  const char* help;
};

constexpr Rule kRules[] = {
    {.type = FindingType::kRace,
     .id = "race",
     .title = "Data race",
     .help =
         "Two threads access the same memory, at least one of them writes, and nothing orders "
         "the two accesses. What they read and leave behind depends on the schedule. Add the order "
         "that the message names."},
    {.type = FindingType::kBarrierDivergence,
     .id = "barrier-divergence",
     .title = "Barrier divergence",
     .help = "Not all threads that a barrier waits for come to it. The kernel may hang, or go on "
             "with data that are not there yet. Move the barrier out of the branch."},
    {.type = FindingType::kMemoryError,
     .id = "memory-error",
     .title = "Memory error",
     .help = "The kernel was ended by an access that is not allowed, a trap or an assertion. What "
             "it had not done yet was not checked."},
    {.type = FindingType::kTimeout,
     .id = "timeout",
     .title = "Kernel did not end",
     .help = "The kernel ran longer than launch-timeout allows, and was ended."},
    {.type = FindingType::kDeadlock,
     .id = "deadlock",
     .title = "Deadlock",
     .help = "All threads of a block wait, and none of them can go on."},
    {.type = FindingType::kAsyncRegister,
     .id = "async-register",
     .title = "Register used by an asynchronous wgmma",
     .help = "wgmma.mma_async reads and writes its registers after it was issued. One that is "
             "touched before wgmma.wait_group, or written before without wgmma.fence, has no "
             "known value. Wait first, or fence."},
};

Json text_json(const std::string& text) {
  return {{"text", text}};
}

// RFC 3986: all but unreserved characters and the slash are escaped.
std::string as_uri(std::string_view path) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  return percent_encoded(path, [](unsigned char byte) {
    return kPlain.find(static_cast<char>(byte)) == std::string_view::npos;
  });
}

class SarifWriter {
 public:
  SarifWriter(const Report& report, std::string root) : report_(report), root_(std::move(root)) {
    if (!root_.ends_with('/')) {
      root_ += '/';
    }
  }

  [[nodiscard]] Json log() const {
    Json results = Json::array();
    for (const Bug& bug : bugs_of(report_.findings)) {
      results.push_back(result(bug));
    }
    Json run = {{"tool", {{"driver", driver()}}},
                {"invocations", Json::array({invocation()})},
                {"originalUriBaseIds", {{kRoot, {{"uri", "file://" + as_uri(root_)}}}}},
                {"columnKind", "utf16CodeUnits"},
                {"results", std::move(results)}};
    return {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
             "sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({std::move(run)})}};
  }

 private:
  static Json driver() {
    Json rules = Json::array();
    const std::string page = findings_page();
    for (const Rule& rule : kRules) {
      rules.push_back({{"id", rule.id},
                       {"name", rule.title},
                       {"shortDescription", text_json(rule.title)},
                       {"fullDescription", text_json(rule.help)},
                       {"help", text_json(rule.help)},
                       {"defaultConfiguration", {{"level", "error"}}},
                       {"properties", {{"tags", {"concurrency", "cuda"}}}}});
      // The standard wants an absolute address. A race has one heading for each kind.
      if (!page.empty()) {
        rules.back()["helpUri"] =
            "file://" + as_uri(page) +
            (rule.type == FindingType::kRace ? "" : fmt::format("#{}", rule.id));
      }
    }
    return {{"name", "BARRACUDA"}, {"semanticVersion", BARRACUDA_VERSION}, {"rules", rules}};
  }

  [[nodiscard]] Json invocation() const {
    Json notes = Json::array();
    const auto add = [&notes](const char* level, const std::string& text) {
      notes.push_back({{"level", level}, {"message", text_json(text)}});
    };
    for (const std::string& gap : gaps_of(report_)) {
      add("warning", "not covered: " + gap);
    }
    const std::vector<std::string> failures = failures_of(report_);
    for (const std::string& failure : failures) {
      add("error", failure);
    }
    Json invocation = {{"executionSuccessful", failures.empty()},
                       {"toolExecutionNotifications", std::move(notes)}};
    if (report_.own_status != kUnknownStatus) {
      invocation["exitCode"] = report_.own_status;
    }
    return invocation;
  }

  [[nodiscard]] Json file_json(const std::string& file) const {
    const std::string path = std::filesystem::path(file).lexically_normal().string();
    if (path.starts_with(root_)) {
      return {{"uri", as_uri(path.substr(root_.size()))}, {"uriBaseId", kRoot}};
    }
    return {{"uri", (path.starts_with('/') ? "file://" : "") + as_uri(path)}};
  }

  // Without line information there is the kernel's name, and the program for a file: a result must
  // have one.
  [[nodiscard]] Json location(const Frame& place, const std::string& source,
                              const std::string& message) const {
    Json physical = {{"artifactLocation", file_json(place.file.empty() ? program() : place.file)}};
    if (place.line != 0) {
      physical["region"] = {{"startLine", place.line}};
      if (!source.empty()) {
        physical["region"]["snippet"] = text_json(source);
      }
    }
    Json json = {{"physicalLocation", std::move(physical)}};
    if (!place.function.empty()) {
      json["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", place.function}, {"kind", "function"}}});
    }
    json["message"] = text_json(message);
    return json;
  }

  [[nodiscard]] std::string program() const {
    const bool is_known = !report_.processes.empty() && !report_.processes.front().program.empty();
    return is_known ? report_.processes.front().program : "program";
  }

  // The steps of one thread: what it synchronised by before its access or after it.
  void add_syncs(Json& steps, const Access& access, bool are_after) const {
    for (const Sync& sync : access.syncs) {
      if ((sync.when == detector::SyncWhen::kAfter) == are_after) {
        steps.push_back({{"location", location(sync.place, "", what_happened(sync))}});
      }
    }
  }

  // What the thread did up to the race, as far as it is known.
  [[nodiscard]] Json thread_flow(const Finding& finding, const Access& access) const {
    Json steps = Json::array();
    add_syncs(steps, access, false);
    steps.push_back(
        {{"location", location(access.place, access.source, what_happened(finding, access))},
         {"importance", "essential"}});
    add_syncs(steps, access, true);
    return {{"locations", std::move(steps)}};
  }

  [[nodiscard]] Json result(const Bug& bug) const {
    const Finding& finding = bug.shown();
    const auto* const rule = std::ranges::find(kRules, finding.type, &Rule::type);
    const std::string description = description_of(finding);
    Json result = {
        {"ruleId", rule->id},
        {"ruleIndex", rule - std::begin(kRules)},
        {"level", name_of(finding.severity)},
        {"message", text_json(title_of(finding) + (description.empty() ? "" : "\n") + description)},
        {"occurrenceCount", std::max<std::uint64_t>(bug.count(), 1)}};
    if (!finding.fingerprint.empty()) {
      result["partialFingerprints"] = {{kFingerprint, finding.fingerprint}};
    }
    Json locations = Json::array();
    Json flows = Json::array();
    for (const Access& access : finding.accesses) {
      locations.push_back(location(access.place, access.source, what_happened(finding, access)));
      flows.push_back(thread_flow(finding, access));
    }
    if (locations.empty()) {
      locations.push_back(location({}, "", title_of(finding)));
    }
    result["locations"] = Json::array({locations.front()});
    if (locations.size() > 1) {
      locations.erase(0);
      for (std::size_t i = 0; i < locations.size(); ++i) {
        locations[i]["id"] = i + 1;
      }
      result["relatedLocations"] = std::move(locations);
      result["codeFlows"] = Json::array({{{"threadFlows", std::move(flows)}}});
    }
    return result;
  }

  const Report& report_;
  std::string root_;
};

}  // namespace

std::string sarif_report(const Report& report, const std::string& root) {
  return SarifWriter(report, root).log().dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace barracuda::report
