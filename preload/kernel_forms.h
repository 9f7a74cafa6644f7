// The forms of kernels in which nothing is logged (ptx::Kernel::guarded and plain), each in a
// library of its own, which is made once a kernel has done enough to be worth its compilation; and
// kernels as the program has them, for launches that leave no room for the tool. Thread-safe.
#pragma once

#include "preload/guard.h"
#include "preload/hooks.h"
#include "session/launch_request.h"
#include "session/session.h"

namespace barracuda::preload {

// Null where there is none, or not yet.
struct KernelForms {
  CUfunction guarded = nullptr, plain = nullptr, uninstrumented = nullptr;
};

// Those of the request's kernel that may be launched in its place. The request is told; one without
// instrumentation has to be launched.
KernelForms find_forms(const HookScope& scope, session::Session& session,
                       session::LaunchRequest& request);

// A launch had to log what its guarded form does not: others like it may want a plain one.
void guarded_form_was_none(session::Session& session, const session::LaunchRequest& request);

// Before a module or library of the program's is unloaded.
void unload_forms(session::Handle module);

}  // namespace barracuda::preload
