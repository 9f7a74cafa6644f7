#include <utility>
#include <vector>

#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::extra_blocks {

Expected<void> run(Program& program) {
  std::vector<Insertion> insertions;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const Kernel* const kernel = program.find_kernel(function.name);
    if (kernel == nullptr || !function.has_body || !kernel->resizes_grid) {
      continue;
    }
    insertions.push_back(
        {function.body_begin + 1,
         "{\n.reg .b32 %__barracuda_d;\n.reg .pred %__barracuda_q;\n" +
             write_call(program.called_hooks, {.name = "disturb"}, {},
                        ".param .b32 __barracuda_result;\n",
                        "ld.param.b32 %__barracuda_d, [__barracuda_result];\n") +
             "setp.ne.u32 %__barracuda_q, %__barracuda_d, 0;\n@%__barracuda_q exit;\n}"});
  }
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::extra_blocks
