// Damaged litmus tests: an error with its place, or a test, which is printed so that it is read
// again, and explored within bounds.
#include <string>

#include "base/assert.h"
#include "fuzz_target.h"
#include "weak_memory/litmus.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace model = barracuda::memory_model;
  const auto test =
      model::read_litmus(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!test) {
    ASSERT(!test.error().message.empty());
    ASSERT(test.error().line > 0);
    return 0;
  }
  const std::string text = model::litmus_text(*test);
  const auto again = model::read_litmus(text, "printed");
  ASSERT(again && model::litmus_text(*again) == text);
  model::ExploreOptions options;
  options.states = 200;
  options.seconds = 0.1;
  options.unroll = 1;
  for (const model::Model each : {model::Model::kSc, model::Model::kWeak, model::Model::kStrong,
                                  model::Model::kPtx60, model::Model::kPtx75}) {
    if (!model::not_in_model(*test, each)) {
      model::explore(*test, each, options);
    }
  }
  return 0;
}
