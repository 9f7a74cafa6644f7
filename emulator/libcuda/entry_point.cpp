#include <algorithm>
#include <array>
#include <string_view>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {
namespace {

// The version from which there are functions of the per-thread default stream.
constexpr int kPerThreadSince = 7000;

// What cuGetProcAddress answers if it is asked for this version of a symbol, or a later one.
struct Entry {
  std::string_view exported, symbol;
  int version;
  bool per_thread;
};

constexpr Entry entry_of(std::string_view exported, int since) {
  const bool per_thread = is_per_thread_form(exported);
  std::string_view symbol = exported.substr(0, per_thread ? exported.rfind('_') : exported.npos);
  if (const std::size_t end = symbol.rfind("_v"); end != symbol.npos) {
    symbol = symbol.substr(0, end);
  }
  return {.exported = exported,
          .symbol = symbol,
          .version = per_thread ? std::max(since, kPerThreadSince) : since,
          .per_thread = per_thread};
}

#define FUNCTION(name, since, ...) entry_of(#name, since),
constexpr std::array kEntries = {
#include "emulator/libcuda.def"
};

bool is_symbol(std::string_view symbol) {
  return std::ranges::any_of(kEntries, [&](const Entry& entry) { return entry.symbol == symbol; });
}

struct ErrorWords {
  CUresult error;
  const char *name, *text;
};

constexpr ErrorWords kErrors[] = {
#define ERROR(code, meaning) {.error = code, .name = #code, .text = meaning},
#include "emulator/libcuda/errors.def"
#undef ERROR
};

CUresult describe(CUresult error, const char* ErrorWords::* word, const char** answer) {
  RETURN_IF(answer == nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto* const found = std::ranges::find(kErrors, error, &ErrorWords::error);
  *answer = found == std::end(kErrors) ? nullptr : found->*word;
  return *answer == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

std::string_view exported_name(std::string_view symbol, int cuda_version, bool per_thread) {
  const Entry* best = nullptr;
  for (const Entry& entry : kEntries) {
    if (entry.symbol != symbol || entry.version > cuda_version ||
        (entry.per_thread && !per_thread)) {
      continue;
    }
    // The per-thread form of a function goes before the other.
    if (best == nullptr ||
        std::pair(entry.per_thread, entry.version) > std::pair(best->per_thread, best->version)) {
      best = &entry;
    }
  }
  return best == nullptr ? std::string_view() : best->exported;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** result, int cuda_version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* found) {
  RETURN_IF(symbol == nullptr || result == nullptr, CUDA_ERROR_INVALID_VALUE);
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const std::string_view name = exported_name(symbol, cuda_version, per_thread);
  *result = name.empty() ? nullptr : find_function(name);
  if (*result != nullptr) {
    if (found != nullptr) {
      *found = CU_GET_PROC_ADDRESS_SUCCESS;
    }
    return CUDA_SUCCESS;
  }
  if (found != nullptr) {
    *found = is_symbol(symbol) ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// The tables are private to NVIDIA's libraries. Its runtime does not start without them
// (docs/decisions/own-cudart.md); the others do.
CUresult cuGetExportTable(const void** table, const CUuuid* /*id*/) {
  if (table != nullptr) {
    *table = nullptr;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  return describe(error, &ErrorWords::name, name);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return describe(error, &ErrorWords::text, text);
}

CUresult cuProfilerInitialize(const char* /*config*/, const char* /*output*/,
                              CUoutput_mode /*mode*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
