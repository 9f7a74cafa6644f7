#include <tuple>
#include <type_traits>

#include "emulator/exported_names.h"
#include "emulator/function_table.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {
namespace {

CUresult refuse() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

using Table = FunctionTable<kCudaNames, &refuse>;

// What holds before a function is called, or the status that says why not.
struct Always {
  template <typename... Arguments>
  static CUresult check(const Arguments&... /*arguments*/) {
    return CUDA_SUCCESS;
  }
};

struct Initialized {
  template <typename... Arguments>
  static CUresult check(const Arguments&... /*arguments*/) {
    return require_initialized();
  }
};

struct InContext {
  template <typename... Arguments>
  static CUresult check(const Arguments&... /*arguments*/) {
    return require_context();
  }
};

struct OnDevice {
  template <typename... Arguments>
  static CUresult check(const Arguments&... arguments) {
    return require_device(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)));
  }
};

// What an exported name stands for: a function that gets the same arguments and after them the last
// ones. The index gives each name an address of its own, so that who compares them can tell forms
// apart.
template <typename Exported, typename Condition, std::size_t Index, auto Function, auto... Last>
struct Entry;

template <typename... Arguments, typename Condition, std::size_t Index, auto Function, auto... Last>
struct Entry<CUresult(Arguments...), Condition, Index, Function, Last...> {
  static CUresult call(Arguments... arguments) {
    const CUresult status = Condition::check(arguments...);
    return status == CUDA_SUCCESS ? Function(arguments..., Last...) : status;
  }
};

Table make_table() {
  Table table;
#define FIRST(name, ...) name
#define ENTRY(name, condition, function, ...)                                 \
  table.implement(Table::index_of(#name),                                     \
                  &Entry<decltype(::name), condition, Table::index_of(#name), \
                         &driver::function __VA_OPT__(, ) __VA_ARGS__>::call);
#define ROW(name, condition, ...) ENTRY(name, condition, FIRST(__VA_ARGS__ __VA_OPT__(, ) name))
#define FUNCTION(name, ...) ROW(name, Always, __VA_ARGS__)
#define INITIALIZED(name, ...) ROW(name, Initialized, __VA_ARGS__)
#define IN_CONTEXT(name, ...) ROW(name, InContext, __VA_ARGS__)
#define ON_DEVICE(name, ...) ROW(name, OnDevice, __VA_ARGS__)
#define FUNCTION_PTSZ(name) FUNCTION(name) ENTRY(name##_ptsz, Always, name)
#define FUNCTION_PTDS(name) FUNCTION(name) ENTRY(name##_ptds, Always, name)
#define SYNCHRONOUS(name, asynchronous) \
  ENTRY(name, Always, asynchronous, nullptr) ENTRY(name##_ptds, Always, asynchronous, nullptr)
#include "emulator/libcuda/functions.def"
#undef ROW
#undef ENTRY
#undef FIRST
  return table;
}

}  // namespace

void* find_function(std::string_view exported_name) {
  static const auto* const table = new Table(make_table());
  return table->find(exported_name);
}

std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls() {
  return Table::refused_calls();
}

}  // namespace barracuda::emulator::driver
