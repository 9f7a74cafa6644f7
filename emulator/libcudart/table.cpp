#include "emulator/exported_names.h"
#include "emulator/function_table.h"
#include "emulator/libcudart.h"
#include "emulator/libcudart/forward.h"
#include "emulator/libcudart/older.h"

namespace barracuda::emulator::runtime {
namespace {

cudaError_t refuse() {
  return note(cudaErrorNotSupported);
}

using Table = FunctionTable<kCudart13Names, &refuse>;
using Table12 = FunctionTable<kCudart12Names, &refuse>;
using Table11 = FunctionTable<kCudart11Names, &refuse>;

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

Table make_table() {
  Table table;
#define PER_THREAD(name, form, function)                                   \
  static_assert(std::is_same_v<decltype(::name), decltype(::name##form)>); \
  table.implement(Table::index_of(#name #form), &PerThread<function>::call);
#define FORWARDER(name, driver, ...) \
  Forward<decltype(::name), &DriverCalls::driver __VA_OPT__(, ) __VA_ARGS__>
#define FUNCTION(name) table.implement(Table::index_of(#name), &runtime::name);
#define FUNCTION_PTSZ(name) FUNCTION(name) PER_THREAD(name, _ptsz, &runtime::name)
#define FUNCTION_PTDS(name) FUNCTION(name) PER_THREAD(name, _ptds, &runtime::name)
#define FORWARD(name, ...) \
  table.implement(Table::index_of(#name), &FORWARDER(name, __VA_ARGS__)::call);
#define FORWARD_PTSZ(name, driver) \
  FORWARD(name, driver) PER_THREAD(name, _ptsz, (&FORWARDER(name, driver)::call))
#define FORWARD_WITHOUT_CONTEXT(name, driver) \
  table.implement(Table::index_of(#name), &FORWARDER(name, driver)::call_without_context);
#include "emulator/libcudart/functions.def"
#undef FORWARDER
#undef PER_THREAD
  return table;
}

const Table& newest_table() {
  static const auto* const table = new Table(make_table());
  return *table;
}

// What 13 has by the same name; the rows for older libraries then say where that is another
// function.
template <typename Older, const auto& Names>
Older make_older_table() {
  Older table;
  for (std::size_t index = 0; index < Names.size(); ++index) {
    if (void* const function = newest_table().find(Names[index])) {
      table.implement(index, function);
    }
  }
#define ROW(name, function)                            \
  static_assert(Table12::exports(#name));              \
  if constexpr (Older::exports(#name)) {               \
    table.implement(Older::index_of(#name), function); \
  }
#define PER_THREAD_FORM(function) &PerThread<function>::call
#define FORWARDER(library, name, driver) \
  &Forward<decltype(library::name), &DriverCalls::driver>::call
#define RENAMED(name, name_in_13)             \
  static_assert(Table::exports(#name_in_13)); \
  ROW(name, newest_table().find(#name_in_13))
#define IN_12(name) ROW(name, &cuda12::name)
#define IN_12_PTSZ(name) IN_12(name) ROW(name##_ptsz, PER_THREAD_FORM(&cuda12::name))
#define FORWARD_IN_12(name, driver) ROW(name, FORWARDER(cuda12, name, driver))
#define FORWARD_IN_12_PTSZ(name, driver) \
  FORWARD_IN_12(name, driver) ROW(name##_ptsz, PER_THREAD_FORM(FORWARDER(cuda12, name, driver)))
#define ROW_11(name, function)                           \
  if constexpr (std::is_same_v<Older, Table11>) {        \
    table.implement(Table11::index_of(#name), function); \
  }
#define IN_11(name) ROW_11(name, &cuda11::name)
#define IN_11_PTSZ(name) IN_11(name) ROW_11(name##_ptsz, PER_THREAD_FORM(&cuda11::name))
#define FORWARD_IN_11(name, driver) ROW_11(name, FORWARDER(cuda11, name, driver))
#include "emulator/libcudart/functions.def"
#undef ROW_11
#undef ROW
#undef FORWARDER
#undef PER_THREAD_FORM
  return table;
}

}  // namespace

void* find_function(std::string_view exported_name, Library library) {
  static const auto* const of_12 = new Table12(make_older_table<Table12, kCudart12Names>());
  static const auto* const of_11 = new Table11(make_older_table<Table11, kCudart11Names>());
  switch (library) {
    case Library::kCudart13:
      break;
    case Library::kCudart12:
      return of_12->find(exported_name);
    case Library::kCudart11:
      return of_11->find(exported_name);
  }
  return newest_table().find(exported_name);
}

std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls() {
  auto calls = Table::refused_calls();
  std::ranges::copy(Table12::refused_calls(), std::back_inserter(calls));
  std::ranges::copy(Table11::refused_calls(), std::back_inserter(calls));
  return calls;
}

}  // namespace barracuda::emulator::runtime
