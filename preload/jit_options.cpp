#include "preload/jit_options.h"

#include <cstdint>

#include "base/assert.h"

namespace barracuda::preload {

JitOptions::JitOptions(CUjit_option* names, void** values, unsigned count) {
  if (names != nullptr && values != nullptr) {
    names_.assign(names, names + count);
    values_.assign(values, values + count);
  }
}

void JitOptions::set(CUjit_option name, void* value) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) {
      values_[i] = value;
      return;
    }
  }
  names_.push_back(name);
  values_.push_back(value);
  DEBUG_ASSERT(is_valid());
}

JitOptions JitOptions::without_places() const {
  JitOptions kept(nullptr, nullptr, 0);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] != CU_JIT_INFO_LOG_BUFFER && names_[i] != CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES &&
        names_[i] != CU_JIT_ERROR_LOG_BUFFER && names_[i] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      kept.set(names_[i], values_[i]);
    }
  }
  return kept;
}

// NOLINTBEGIN(clang-diagnostic-switch-enum): the options are the driver's, and get more
std::optional<std::vector<std::string>> JitOptions::compiler_flags() const {
  ASSERT(is_valid());
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto value = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values_[i]));
    const auto add = [&](const char* flag) { flags.push_back(flag + std::to_string(value)); };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
    switch (names_[i]) {
      case CU_JIT_MAX_REGISTERS:
        if (value != 0) {
          add("--maxrregcount=");
        }
        break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        add("--opt-level=");
        break;
      case CU_JIT_GENERATE_LINE_INFO:
        if (value != 0) {
          flags.emplace_back("--generate-line-info");
        }
        break;
      case CU_JIT_INFO_LOG_BUFFER:
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER:
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_TARGET_FROM_CUCONTEXT:
      case CU_JIT_FALLBACK_STRATEGY:
        break;  // of no consequence for code
      case CU_JIT_LOG_VERBOSE:
      case CU_JIT_GENERATE_DEBUG_INFO:
      case CU_JIT_CACHE_MODE:
        if (value != 0) {
          return std::nullopt;
        }
        break;
      default:
        return std::nullopt;
    }
#pragma GCC diagnostic pop
  }
  return flags;
}

// NOLINTEND(clang-diagnostic-switch-enum)

}  // namespace barracuda::preload
