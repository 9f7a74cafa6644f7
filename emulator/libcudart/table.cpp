#include <algorithm>
#include <iterator>

#include "emulator/function_table.h"
#include "emulator/libcudart.h"
#include "emulator/libcudart/forward.h"
#include "emulator/libcudart/older.h"

namespace barracuda::emulator::runtime {
namespace {

cudaError_t refuse() {
  return note(cudaErrorNotSupported);
}

// The _ptsz and _ptds form of a function.
template <auto Function>
struct PerThread;

template <typename Result, typename... Arguments, Result (*Function)(Arguments...)>
struct PerThread<Function> {
  static Result call(Arguments... arguments) {
    const PerThreadScope scope;
    return Function(arguments...);
  }
};

// The libcudart of this number: 13, 12 or 11.
template <int Number>
const FunctionTable& function_table() {
  static const auto* const table = [] {
    auto* const made = new FunctionTable;
#define ROW(name, first, last, ...)                  \
  if constexpr (first <= Number && Number <= last) { \
    made->implement(#name, __VA_ARGS__);             \
  }
#define TWO_ROWS(name, form, first, last, ...) \
  ROW(name, first, last, __VA_ARGS__)          \
  ROW(name##form, first, last, &PerThread<(__VA_ARGS__)>::call)
#define FORWARDER(signature, driver, ...) \
  &Forward<decltype(signature), &DriverCalls::driver __VA_OPT__(, ) __VA_ARGS__>::call
#define FUNCTION(name, first, last) ROW(name, first, last, &runtime::name)
#define FUNCTION_PTSZ(name, first, last)                                    \
  static_assert(std::is_same_v<decltype(::name), decltype(::name##_ptsz)>); \
  TWO_ROWS(name, _ptsz, first, last, &runtime::name)
#define FUNCTION_PTDS(name, first, last)                                    \
  static_assert(std::is_same_v<decltype(::name), decltype(::name##_ptds)>); \
  TWO_ROWS(name, _ptds, first, last, &runtime::name)
#define REGISTRATION(name, first, last) FUNCTION(name, first, last)
#define FORWARD(name, first, last, ...) ROW(name, first, last, FORWARDER(::name, __VA_ARGS__))
#define FORWARD_PTSZ(name, first, last, ...)                                \
  static_assert(std::is_same_v<decltype(::name), decltype(::name##_ptsz)>); \
  TWO_ROWS(name, _ptsz, first, last, FORWARDER(::name, __VA_ARGS__))
#define FORWARD_WITHOUT_CONTEXT(name, first, last, driver) \
  ROW(name, first, last, &Forward<decltype(::name), &DriverCalls::driver>::call_without_context)
#define OLDER(name, first, last) ROW(name, first, last, &cuda##last::name)
#define OLDER_PTSZ(name, first, last) TWO_ROWS(name, _ptsz, first, last, &cuda##last::name)
#define FORWARD_OLDER(name, first, last, driver) \
  ROW(name, first, last, FORWARDER(cuda##last::name, driver))
#define FORWARD_OLDER_PTSZ(name, first, last, driver) \
  TWO_ROWS(name, _ptsz, first, last, FORWARDER(cuda##last::name, driver))
#define RENAMED(name, first, last, other)               \
  static_assert(std::is_function_v<decltype(::other)>); \
  ROW(name, first, last, function_table<13>().find(#other))
#define MISSING(name, first, last)                                  \
  if constexpr (first <= Number && Number <= last) {                \
    made->refuse<Unsupported<&refuse, Number, __COUNTER__>>(#name); \
  }
#include "emulator/libcudart.def"
#undef ROW
#undef TWO_ROWS
#undef FORWARDER
    made->sort();
    return made;
  }();
  return *table;
}

}  // namespace

void* find_function(std::string_view exported_name, Library library) {
  switch (library) {
    case Library::kCudart13:
      break;
    case Library::kCudart12:
      return function_table<12>().find(exported_name);
    case Library::kCudart11:
      return function_table<11>().find(exported_name);
  }
  return function_table<13>().find(exported_name);
}

std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls() {
  auto calls = function_table<13>().refused_calls();
  std::ranges::copy(function_table<12>().refused_calls(), std::back_inserter(calls));
  std::ranges::copy(function_table<11>().refused_calls(), std::back_inserter(calls));
  return calls;
}

}  // namespace barracuda::emulator::runtime
