// Damaged PTX: an error with its place, or a module, which everything that reads modules must bear.
#include <string>

#include "base/assert.h"
#include "fuzz_target.h"
#include "ptx/control_flow.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx/print.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ptx = barracuda::ptx;
  auto module = ptx::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!module) {
    ASSERT(!module.error().message.empty());
    ASSERT(module.error().line > 0);
    return 0;
  }
  const auto again = ptx::parse(ptx::print(*module));
  ASSERT(again && ptx::equal(*module, *again));
  for (const ptx::Function& function : module->functions) {
    const auto flow = ptx::build_control_flow(*module, function);
    ASSERT(flow || !flow.error().message.empty());
  }
  std::vector<ptx::Module> units;
  units.push_back(std::move(*module));
  const auto instrumented = ptx::instrument(std::move(units), {});
  ASSERT(instrumented || !instrumented.error().message.empty());
  return 0;
}
