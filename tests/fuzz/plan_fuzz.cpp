// Any text as a plan: an error that says where, or a plan that is read back as it was.
#include <string_view>

#include "base/assert.h"
#include "fuzz_target.h"
#include "session/plan.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace session = barracuda::session;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = session::parse_plan(text, "plan");
  if (!plan) {
    ASSERT(!plan.error().message.empty() && plan.error().line != 0);
    return 0;
  }
  const std::string printed = session::to_string(*plan);
  const auto again = session::parse_plan(printed, "again");
  ASSERT(again && session::to_string(*again) == printed);
  ASSERT(again->decisions.size() == plan->decisions.size());
  return 0;
}
