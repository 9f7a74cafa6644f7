// Copies and memsets: the driver's call, then what it put into which stream.
#include "preload/copy_hooks.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "preload/copy_call.h"
#include "preload/hook_edge.h"

namespace barracuda::preload {
namespace {

using session::Session;

template <typename Signature>
struct CopyHook;

template <typename... Arguments>
struct CopyHook<CUresult(Arguments...)> {
  using Last = std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>;
  static constexpr bool kHasStream = std::is_same_v<Last, CUstream>;
  static constexpr CallForm kForm = kHasStream ? CallForm::kAsynchronous : CallForm::kSynchronous;

  // A call that a capture records does nothing yet.
  template <Name kName, DefaultStream kMeaning>
  static CUresult call(Arguments... arguments) {
    static const Original<CUresult(Arguments...)> original{kName.text};
    const HookScope scope;
    const CUresult status = original(arguments...);
    scope.run([&](Session& session) {
      const session::Handle stream = stream_of(kMeaning, arguments...);
      if (status == CUDA_SUCCESS && !session.driver().stream_is_capturing(stream)) {
        session::CopyRequest copy = describe(session, std::tuple(arguments...));
        copy.stream = stream;
        session.launches().copied(copy);
      }
      session.observe(status);
    });
    return status;
  }

 private:
  static session::Handle stream_of(DefaultStream meaning, Arguments... arguments) {
    if constexpr (kHasStream) {
      return stream_handle(std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...)), meaning);
    } else {
      return stream_handle(nullptr, meaning);
    }
  }

  static session::CopyRequest describe(Session& session, const std::tuple<Arguments...>& all) {
    const CopyCall call(session, kForm);
    return [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      return call(std::get<kIndices>(all)...);
    }(std::make_index_sequence<sizeof...(Arguments) - (kHasStream ? 1 : 0)>());
  }
};

// Comes after all work and before all that is to come.
template <typename... Arguments>
CUresult copy_between_contexts(const Original<CUresult(Arguments...)>& original,
                               Arguments... arguments) {
  const HookScope scope;
  const CUresult status = original(arguments...);
  scope.run([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      session.streams().device_synchronized();
    }
    session.observe(status);
  });
  return status;
}

}  // namespace

CUresult copy_between(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  static const OriginalOf<&copy_between> original;
  return copy_between_contexts(original, to, to_context, from, from_context, bytes);
}

CUresult copy_between_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes) {
  static const OriginalOf<&copy_between_ptds> original;
  return copy_between_contexts(original, to, to_context, from, from_context, bytes);
}

// The name of a function's form for the thread's own default stream.
#define TWIN(name) \
  (CopyHook<decltype(::name)>::kHasStream ? Name{#name "_ptsz"} : Name{#name "_ptds"})

#define HOOK(name, exported, meaning)                                                             \
  Hook {                                                                                          \
    kText<exported>.text,                                                                         \
        reinterpret_cast<void*>(&HookEdge<exported, &CopyHook<decltype(::name)>::template call<   \
                                                        exported, DefaultStream::meaning>>::call) \
  }

#define COPY(name) HOOK(name, Name{#name}, kLegacy), HOOK(name, TWIN(name), kPerThread),

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a table
const std::array<Hook, kCopyHookCount>& copy_hooks() {
  static const std::array<Hook, kCopyHookCount> hooks = {
#include "preload/copies.def"
  };
  return hooks;
}

}  // namespace barracuda::preload
