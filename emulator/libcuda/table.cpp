#include <tuple>
#include <type_traits>

#include "emulator/function_table.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/stream/queue.h"

namespace barracuda::emulator::driver {
namespace {

CUresult refuse() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// What holds before a function is called, or the status that says why not.
struct Always {
  template <typename... Arguments>
  static CUresult check(const Arguments&... /*arguments*/) {
    return CUDA_SUCCESS;
  }
};

// Waits where CUDA's synchronous calls wait for their work.
struct Synchronous : Always {
  SynchronousCall call;
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
// ones. The key gives each name an address of its own, so that who compares them can tell forms
// apart.
template <typename Exported, typename Condition, int Key, auto Function, auto... Last>
struct Entry;

template <typename... Arguments, typename Condition, int Key, auto Function, auto... Last>
struct Entry<CUresult(Arguments...), Condition, Key, Function, Last...> {
  static CUresult call(Arguments... arguments) {
    [[maybe_unused]] const Condition condition;
    const CUresult status = Condition::check(arguments...);
    return status == CUDA_SUCCESS ? Function(arguments..., Last...) : status;
  }
};

// A function with fewer parameters than the other one, which follow each other in the other one's.
template <typename Exported, int Key, auto Function>
struct Short;

template <typename... Arguments, int Key, typename... Parameters,
          CUresult (*Function)(Parameters...)>
struct Short<CUresult(Arguments...), Key, Function> {
  static CUresult call(Arguments... arguments) {
    std::tuple<Parameters...> all{};
    fill<0, 0>(std::tuple(arguments...), all);
    return std::apply(Function, all);
  }

 private:
  template <std::size_t From, std::size_t To>
  static void fill(const std::tuple<Arguments...>& arguments, std::tuple<Parameters...>& all) {
    if constexpr (From < sizeof...(Arguments)) {
      constexpr bool kIsThere = std::is_same_v<std::tuple_element_t<From, std::tuple<Arguments...>>,
                                               std::tuple_element_t<To, std::tuple<Parameters...>>>;
      if constexpr (kIsThere) {
        std::get<To>(all) = std::get<From>(arguments);
      }
      fill<kIsThere ? From + 1 : From, To + 1>(arguments, all);
    }
  }
};

const FunctionTable& function_table() {
  static const auto* const table = [] {
    auto* const made = new FunctionTable;
#define ENTRY(name, condition, function, ...)                             \
  made->implement(#name, &Entry<decltype(::name), condition, __COUNTER__, \
                                &driver::function __VA_OPT__(, ) __VA_ARGS__>::call);
#define FUNCTION(name, ...) ENTRY(name, Always, name)
#define FUNCTION_AS(name, since, other, ...) ENTRY(name, Always, other)
#define SHORT_FOR(name, since, other, ...) \
  made->implement(#name, &Short<decltype(::name), __COUNTER__, &driver::other>::call);
#define SHORT_FOR_PTSZ(name, since, other, ...) \
  SHORT_FOR(name, since, other) SHORT_FOR(name##_ptsz, since, other)
#define INITIALIZED(name, ...) ENTRY(name, Initialized, name)
#define INITIALIZED_AS(name, since, other, ...) ENTRY(name, Initialized, other)
#define IN_CONTEXT(name, ...) ENTRY(name, InContext, name)
#define IN_CONTEXT_AS(name, since, other, ...) ENTRY(name, InContext, other)
#define ON_DEVICE(name, ...) ENTRY(name, OnDevice, name)
#define ON_DEVICE_AS(name, since, other, ...) ENTRY(name, OnDevice, other)
#define FUNCTION_PTSZ(name, ...) ENTRY(name, Always, name) ENTRY(name##_ptsz, Always, name)
#define FUNCTION_PTDS(name, ...) ENTRY(name, Always, name) ENTRY(name##_ptds, Always, name)
#define SYNCHRONOUS(name, since, other, ...) \
  ENTRY(name, Synchronous, other, nullptr)   \
  ENTRY(name##_ptds, Synchronous, other, nullptr)
#define MISSING(name, ...) made->refuse<Unsupported<&refuse, __COUNTER__>>(#name);
#include "emulator/libcuda.def"
#undef ENTRY
    made->sort();
    return made;
  }();
  return *table;
}

}  // namespace

void* find_function(std::string_view exported_name) {
  return function_table().find(exported_name);
}

std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls() {
  return function_table().refused_calls();
}

}  // namespace barracuda::emulator::driver
