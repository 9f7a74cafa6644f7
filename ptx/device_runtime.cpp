#include "ptx/device_runtime.h"

#include <algorithm>
#include <string>
#include <utility>

#include "device_logger/logger_image.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kFunctions[] = {"cudaCGGetIntrinsicHandle", "cudaCGSynchronize"};

bool is_missing(const std::vector<Module>& units, std::string_view name) {
  bool is_declared = false;
  for (const Module& unit : units) {
    const Function* const function = unit.find_function(name);
    if (function != nullptr && function->has_body) {
      return false;
    }
    is_declared = is_declared || function != nullptr;
  }
  return is_declared;
}

// libcudadevrt, which nvcc -rdc=true links to every program. It calls what only a driver has.
bool is_cudas(const Module& unit) {
  return std::ranges::any_of(unit.statements, [](const Statement& statement) {
    return std::ranges::any_of(statement.variables, [](const Variable& variable) {
      return variable.name == "__CNPRT_VERSION_NUMBER__" && !variable.is_extern;
    });
  });
}

}  // namespace

bool may_need_device_runtime(std::string_view text) {
  return std::ranges::any_of(kFunctions, [text](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

Expected<void> add_device_runtime(std::vector<Module>& units) {
  if (!std::ranges::all_of(units, is_cudas)) {
    std::erase_if(units, is_cudas);
  }
  const bool is_needed = std::ranges::any_of(
      kFunctions, [&units](std::string_view name) { return is_missing(units, name); });
  if (is_needed) {
    TRY(Module runtime, parse(std::string(wire::device_runtime_ptx())));
    units.push_back(std::move(runtime));
  }
  return {};
}

}  // namespace barracuda::ptx
