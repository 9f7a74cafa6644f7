#include "report/json_writer.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace barracuda::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json line_or_null(std::uint32_t line) {
  return line == 0 ? Json() : Json(line);
}

const char* operation_name(AccessOperation operation) {
  switch (operation) {
    case AccessOperation::kUnknown:
      return nullptr;
    case AccessOperation::kRead:
      return "read";
    case AccessOperation::kWrite:
      return "write";
    case AccessOperation::kAtomic:
      return "atomic";
    case AccessOperation::kCopy:
      return "copy";
    case AccessOperation::kMemset:
      return "memset";
  }
  return nullptr;
}

Json frame_json(const Frame& frame) {
  return {{"function", text_or_null(frame.function)},
          {"file", text_or_null(frame.file)},
          {"line", line_or_null(frame.line)}};
}

Json frames_json(const Access& access) {
  Json frames = Json::array();
  for (const std::vector<Frame>* const chain : {&access.inlined, &access.callers}) {
    for (const Frame& frame : *chain) {
      frames.push_back(frame_json(frame));
    }
  }
  return frames;
}

Json last_sync_json(const Access& access) {
  if (access.last_sync.empty() || access.last_sync == "unknown") {
    return {};
  }
  Json sync = frame_json(access.last_sync_place);
  sync["instruction"] = access.last_sync;
  return sync;
}

Json access_json(const Access& access) {
  const char* const operation = operation_name(access.operation);
  const auto if_thread = [&access](const auto& value) {
    return access.has_thread ? Json(value) : Json();
  };
  const auto if_launch = [&access](const auto& value) {
    return access.launch != 0 ? Json(value) : Json();
  };
  return {{"op", operation == nullptr ? Json() : Json(operation)},
          {"size", access.size == 0 ? Json() : Json(access.size)},
          {"address", access.has_address ? Json(access.address) : Json()},
          {"function", text_or_null(access.place.function)},
          {"file", text_or_null(access.place.file)},
          {"line", line_or_null(access.place.line)},
          {"inlined", frames_json(access)},
          {"kernel", text_or_null(access.kernel)},
          {"launch", if_launch(access.launch)},
          {"stream", access.is_by_host ? Json(access.stream) : if_launch(access.stream)},
          {"thread", if_thread(access.thread)},
          {"block", if_thread(access.block)},
          {"warp", if_thread(access.warp)},
          {"lane", if_thread(access.lane)},
          {"last_sync", last_sync_json(access)}};
}

Json finding_json(const Finding& finding, const std::string& model) {
  Json accesses = Json::array();
  for (const Access& access : finding.accesses) {
    accesses.push_back(access_json(access));
  }
  return {{"schema", kSchema},
          {"type", name_of(finding.type)},
          {"severity", finding.severity == FindingSeverity::kWarning ? "warning" : "error"},
          {"kind", text_or_null(finding.kind)},
          {"space", text_or_null(finding.space)},
          {"model", text_or_null(model)},
          {"count", finding.count},
          {"missing", text_or_null(finding.missing)},
          {"accesses", std::move(accesses)}};
}

// Everything that kept something from being checked, in one list.
Json gaps_json(const Report& report) {
  Json gaps = Json::array();
  for (const std::vector<std::string>* const list :
       {&report.coverage.gaps, &report.lost, &report.blocked}) {
    for (const std::string& gap : *list) {
      gaps.push_back(gap);
    }
  }
  for (const std::string* const message : {&report.option_error, &report.tool_failure}) {
    if (!message->empty()) {
      gaps.push_back(*message);
    }
  }
  return gaps;
}

Json summary_json(const Report& report) {
  const auto races = std::ranges::count(report.findings, FindingType::kRace, &Finding::type);
  return {{"schema", kSchema},
          {"type", "summary"},
          {"races", races},
          {"kernels",
           {{"launched", report.coverage.kernels}, {"instrumented", report.coverage.instrumented}}},
          {"coverage", report.covers_everything() ? "complete" : "incomplete"},
          {"not_covered", gaps_json(report)}};
}

// Names and paths are bytes of the program's; what is not UTF-8 is replaced, not refused.
std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_report(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += one_line(finding_json(finding, report.model));
  }
  return text + one_line(summary_json(report));
}

}  // namespace barracuda::report
