#include "emulator/function_table.h"
#include "emulator/runtime/forward.h"
#include "emulator/runtime_face.h"

namespace barracuda::emulator::runtime {
namespace {

#define NAME(x) std::string_view(#x),
constexpr std::array kNames = {
#include "emulator/cudart_names.def"
};
#undef NAME

cudaError_t refuse() {
  return note(cudaErrorNotSupported);
}

using Table = FunctionTable<kNames, &refuse>;

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
#include "emulator/runtime/functions.def"
#undef FORWARDER
#undef PER_THREAD
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

}  // namespace barracuda::emulator::runtime
