// What the hooks of copies and memsets have in common: the driver's call, then what it put into
// which stream.
#pragma once

#include "preload/hook.h"

namespace barracuda::preload {

inline session::Handle default_stream(DefaultStream meaning) {
  return stream_handle(nullptr, meaning);
}

// `describe` makes of a session what the call does. A call that a capture records does nothing yet.
template <typename Describe, typename... Arguments>
CUresult submit_copy(const Original<CUresult(Arguments...)>& original, session::Handle stream,
                     const Describe& describe, Arguments... arguments) {
  const HookScope scope;
  const CUresult status = original(arguments...);
  scope.run([&](session::Session& session) {
    if (status == CUDA_SUCCESS && !session.driver().stream_is_capturing(stream)) {
      session::CopyRequest copy = describe(session);
      copy.stream = stream;
      session.launches().copied(copy);
    }
    session.observe(status);
  });
  return status;
}

}  // namespace barracuda::preload
