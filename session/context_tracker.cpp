#include "session/context_tracker.h"

#include <vector>

#include "base/signals_blocked.h"

namespace barracuda::session {

void ContextTracker::synchronized(Handle context, DriverStatus status) {
  if (status == 0) {
    streams_.device_synchronized();
  } else if (is_sticky(status)) {
    failed(context, status);
  }
}

void ContextTracker::observe(DriverStatus status) {
  if (is_sticky(status)) {
    failed(driver_.current_context(), status);
  }
}

void ContextTracker::drain_current() {
  if (closed_) {
    return;  // the driver may be gone already
  }
  const Handle context = driver_.current_context();
  if (context == Handle{}) {
    return;
  }
  if (captures_ > 0) {
    in_flight_.check_arrived(kStreamPatience);
    return;
  }
  const DriverStatus status = synchronize(context);
  synchronized(context, status);
  if (status == 0) {
    in_flight_.drain(context, false);
  }
}

// A kernel may run for ever.
DriverStatus ContextTracker::synchronize(Handle context) {
  const SignalsAllowed while_waiting;
  return driver_.synchronize(context);
}

void ContextTracker::prepare_launches() {
  if (!closed_ && images_.has_sites()) {
    in_flight_.prepare(driver_.current_context());
  }
}

void ContextTracker::before_end(Handle context) {
  const DriverStatus status = synchronize(context);
  synchronized(context, status);
  in_flight_.drain(context, status != 0);
  launches_.close_context(context);
  failures_.context_ended(context);
  variables_.forget(context);
}

void ContextTracker::failed(Handle context, DriverStatus status) {
  if (!failures_.context_failed(context, status)) {
    return;
  }
  // The emulated device has said it itself.
  if (!driver_.is_emulated()) {
    in_flight_.check_arrived(kFailurePatience);
    failures_.kernel_died(in_flight_.first_unfinished(context));
  }
  in_flight_.drain(context, true);
}

void ContextTracker::close(bool can_wait) {
  if (!can_wait) {
    in_flight_.check_arrived(kStreamPatience);
  }
  for (const Handle context : can_wait ? in_flight_.contexts() : std::vector<Handle>()) {
    before_end(context);
  }
  launches_.close("launched while the process was ending");
  closed_ = true;
}

}  // namespace barracuda::session
