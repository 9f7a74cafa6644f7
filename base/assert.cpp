#include "base/assert.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/held_lock.h"

namespace barracuda {
namespace {

std::atomic<AssertionHandler> g_handler = nullptr;

}  // namespace

void set_assertion_handler(AssertionHandler handler) noexcept {
  g_handler = handler;
}

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  char description[512];
  std::snprintf(description, sizeof description, "BARRACUDA: assertion failed: %s at %s:%d",
                condition, file, line);
  std::fprintf(stderr, "%s\n", description);
  HeldLock::release_all();
  if (AssertionHandler handler = g_handler.load()) {
    handler(description);
  }
  std::abort();
}

}  // namespace barracuda
