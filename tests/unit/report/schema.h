// Checks JSON against the part of JSON Schema that docs/report.schema.json and sarif.schema.json
// use.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace barracuda::report {

// What is wrong with the value, empty if nothing. A keyword that is not understood is a fault too.
std::string schema_fault(const nlohmann::json& value, const nlohmann::json& schema,
                         const nlohmann::json& root);

}  // namespace barracuda::report
