#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device_logger/symbols.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/parameter_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::store_descriptor {
namespace {

std::string store_words(std::string_view descriptor) {
  return fmt::format("st.shared.v2.b64 [{}], {{{}, 0}};\n", wire::kBlockWords, descriptor);
}

// Where blocks keep something, all threads meet once it is there (wire::BlockWords).
std::string begin_block(HookNames& called) {
  return fmt::format(
      ".reg .b32 %__barracuda_l;\n.reg .b64 %__barracuda_n;\n.reg .pred %__barracuda_q;\n"
      "mov.u32 %__barracuda_l, {};\n{}setp.ne.b64 %__barracuda_q, %__barracuda_n, 0;\n"
      "@%__barracuda_q barrier.sync 0;\n",
      wire::kDynamicShared,
      write_call(called, {.name = "begin_block"}, {b32("%__barracuda_l")},
                 ".param .align 8 .b8 __barracuda_result[8];\n",
                 "ld.param.b64 %__barracuda_n, [__barracuda_result];\n"));
}

void append_parameter(Module& module, const Function& entry, const Kernel& kernel) {
  Statement& header = module.statements[entry.header];
  header.text =
      module.own(with_hidden_parameter(header.text, entry.name, kernel.hidden_parameter_bytes()));
}

// What comes first in an entry: the hidden parameter is stored for the hooks to find.
std::string prologue(const Function& entry, bool keeps_something, HookNames& called) {
  return fmt::format("{{\n.reg .b64 %__barracuda_a;\nld.param.b64 %__barracuda_a, [{}{}];\n{}{}}}",
                     entry.name, wire::kHiddenParameterSuffix, store_words("%__barracuda_a"),
                     keeps_something ? begin_block(called) : "");
}

}  // namespace

Expected<void> run(Program& program) {
  std::vector<Insertion> insertions;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const FunctionFacts& facts = program.functions[i];
    const Kernel* const kernel = program.find_kernel(function.name);
    if (kernel != nullptr && kernel->instrumented) {
      append_parameter(program.module, function, *kernel);
    }
    if (function.is_entry && function.has_body &&
        (facts.is_instrumented || facts.stores_null_descriptor)) {
      const bool keeps_something = kernel != nullptr && kernel->has_block_events;
      insertions.push_back(
          {function.body_begin + 1, facts.is_instrumented
                                        ? prologue(function, keeps_something, program.called_hooks)
                                        : store_words("0")});
    }
  }
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::store_descriptor
