// The hooks of copies and memsets, which follow from their signatures: the driver's call, then what
// it put into which stream.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "preload/copy_call.h"
#include "preload/hook_edge.h"

namespace barracuda::preload {

template <typename Signature>
struct CopyHook;

template <typename... Arguments>
struct CopyHook<CUresult(Arguments...)> {
  using Last = std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>;
  static constexpr bool kHasStream = std::is_same_v<Last, CUstream>;
  static constexpr CallForm kForm = kHasStream ? CallForm::kAsynchronous : CallForm::kSynchronous;

  // A call that a capture records does nothing yet.
  template <Name kName>
  static CUresult call(Arguments... arguments) {
    static const Original<CUresult(Arguments...)> original{kName.text};
    const HookScope scope;
    const CUresult status = original(arguments...);
    scope.run([&](session::Session& session) {
      const session::Handle stream = stream_of(arguments...);
      if (status == CUDA_SUCCESS && !session.driver().stream_is_capturing(stream)) {
        session::CopyRequest copy = describe(session, std::tuple(arguments...));
        copy.stream = stream;
        session.copies().copied(copy);
      }
      session.contexts().observe(status);
    });
    return status;
  }

 private:
  static session::Handle stream_of(Arguments... arguments) {
    if constexpr (kHasStream) {
      return stream_handle(std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...)));
    } else {
      return stream_handle(nullptr);
    }
  }

  static session::CopyRequest describe(session::Session& session,
                                       const std::tuple<Arguments...>& all) {
    const CopyCall call(session, kForm);
    return [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      return call(std::get<kIndices>(all)...);
    }(std::make_index_sequence<sizeof...(Arguments) - (kHasStream ? 1 : 0)>());
  }
};

}  // namespace barracuda::preload
