// Checks JSON against the part of JSON Schema that docs/report.schema.json and sarif.schema.json
// use.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace barracuda::report {

// As a reader of a report has it: in an order of its own.
using ParsedJson = nlohmann::json;

// What is wrong with the value, empty if nothing. A keyword that is not understood is a fault too.
std::string schema_fault(const ParsedJson& value, const ParsedJson& schema, const ParsedJson& root);

}  // namespace barracuda::report
