#include <vector>

#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::store_descriptor {

Expected<void> run(Program& program) {
  std::vector<Insertion> insertions;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const FunctionFacts& facts = program.functions[i];
    if (function.is_entry && function.has_body &&
        (facts.is_instrumented || facts.stores_null_descriptor)) {
      insertions.push_back(
          {function.body_begin + 1, HookWriter::write_prologue(function, facts.is_instrumented)});
    }
  }
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::store_descriptor
