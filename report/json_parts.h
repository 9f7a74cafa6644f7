// What the lines of a JSON report are made of. What is not known is null.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "report/race_report.h"
#include "report/weak_finding.h"

namespace barracuda::report {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text);
Json line_or_null(std::uint32_t line);
Json frame_json(const Frame& frame);
// A list; `schema` as for json_report().
Json accesses_json(std::span<const Access> accesses, int schema);
// Where a fence belongs, and a line about it of type missing-fence or redundant-fence.
Json fence_place_json(const MissingFence& fence);
Json fence_json(const MissingFence& fence, const char* type, const char* severity);
// Names and paths are bytes of the program's; what is not UTF-8 is replaced, not refused.
std::string one_line(const Json& object);

}  // namespace barracuda::report
