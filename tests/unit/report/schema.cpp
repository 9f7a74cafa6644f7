#include "tests/unit/report/schema.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace barracuda::report {
namespace {

bool has_type(const ParsedJson& value, const std::string& type) {
  return (type == "null" && value.is_null()) || (type == "string" && value.is_string()) ||
         (type == "integer" && value.is_number_integer()) ||
         (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean()) ||
         (type == "array" && value.is_array()) || (type == "object" && value.is_object());
}

bool has_any_type(const ParsedJson& value, const ParsedJson& types) {
  if (types.is_string()) {
    return has_type(value, types.get<std::string>());
  }
  return std::ranges::any_of(
      types, [&value](const ParsedJson& type) { return has_type(value, type.get<std::string>()); });
}

std::string object_fault(const ParsedJson& value, const ParsedJson& schema,
                         const ParsedJson& root) {
  for (const ParsedJson& name : schema.value("required", ParsedJson::array())) {
    if (!value.contains(name.get<std::string>())) {
      return "misses " + name.get<std::string>();
    }
  }
  for (const auto& [name, member] : value.items()) {
    const ParsedJson properties = schema.value("properties", ParsedJson::object());
    if (!properties.contains(name)) {
      if (schema.value("additionalProperties", true)) {
        continue;
      }
      return "has an unknown " + name;
    }
    if (std::string fault = schema_fault(member, properties[name], root); !fault.empty()) {
      return name + ": " + fault;
    }
  }
  return "";
}

std::string array_fault(const ParsedJson& value, const ParsedJson& schema, const ParsedJson& root) {
  if (value.size() < schema.value("minItems", std::size_t{0}) ||
      value.size() > schema.value("maxItems", value.size())) {
    return "has " + std::to_string(value.size()) + " items";
  }
  for (const ParsedJson& item : value) {
    if (std::string fault = schema_fault(item, schema.at("items"), root); !fault.empty()) {
      return "item: " + fault;
    }
  }
  return "";
}

std::string unknown_keyword(const ParsedJson& schema) {
  const std::vector<std::string> known = {
      "$ref",  "$schema",  "$defs",    "title",    "description", "oneOf",
      "type",  "required", "minItems", "maxItems", "properties",  "additionalProperties",
      "const", "enum",     "minimum",  "items"};
  for (const auto& [keyword, value] : schema.items()) {
    if (std::ranges::find(known, keyword) == known.end()) {
      return "unknown keyword " + keyword;
    }
  }
  return "";
}

}  // namespace

std::string schema_fault(const ParsedJson& value, const ParsedJson& schema,
                         const ParsedJson& root) {
  if (std::string fault = unknown_keyword(schema); !fault.empty()) {
    return fault;
  }
  if (schema.contains("$ref")) {
    return schema_fault(
        value, root.at(ParsedJson::json_pointer(schema["$ref"].get<std::string>().substr(1))),
        root);
  }
  if (schema.contains("oneOf")) {
    const auto matching = std::ranges::count_if(schema["oneOf"], [&](const ParsedJson& choice) {
      return schema_fault(value, choice, root).empty();
    });
    return matching == 1 ? "" : "matches " + std::to_string(matching) + " of the choices";
  }
  if (schema.contains("const") && value != schema["const"]) {
    return "is not " + schema["const"].dump();
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    return value.dump() + " is none of " + schema["enum"].dump();
  }
  if (schema.contains("type") && !has_any_type(value, schema["type"])) {
    return value.dump() + " is not of type " + schema["type"].dump();
  }
  if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) {
    return value.dump() + " is too small";
  }
  if (value.is_object()) {
    return object_fault(value, schema, root);
  }
  return value.is_array() ? array_fault(value, schema, root) : "";
}

}  // namespace barracuda::report
