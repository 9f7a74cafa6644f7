#include "ptx/instrument.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "device_logger/symbols.h"
#include "ptx/analysis/program.h"
#include "ptx/link.h"
#include "ptx/passes/passes.h"
#include "ptx/print.h"
#include "ptx/rename_registers.h"

namespace barracuda::ptx {
namespace {

using Pass = Expected<void> (*)(Program&);

constexpr Pass kPipeline[] = {
    classify_statements::run, call_graph::run,        hidden_parameter::run, collect_sites::run,
    sync_idioms::run,         fence_neighbours::run,  useful_reads::run,     reduce_in_block::run,
    waiting_loops::run,       branches::run,          updates::run,          surroundings::run,
    number_sites::run,        narrow_kernels::run,    async_registers::run,  global_accesses::run,
    kernel_forms::run,        barrier_intervals::run, uniform_barriers::run, load_batches::run,
    insert_hooks::run,        warp_collectives::run,  block_numbers::run,    shared_places::run,
    shared_alignment::run,    store_descriptor::run,  add_logger::run,
};

constexpr Pass kRewritingPipeline[] = {
    classify_statements::run, call_graph::run,   hidden_parameter::run, delay_stores::run,
    block_numbers::run,       extra_blocks::run, store_descriptor::run, add_logger::run,
};

// Our names in a program would clash with ours: it was instrumented before.
Expected<void> check_names(const Module& module) {
  for (const Function& function : module.functions) {
    if (function.name.starts_with(wire::kPrefix)) {
      return unexpected(
          {.message = fmt::format("the program defines \"{}\" itself", function.name)});
    }
  }
  return {};
}

}  // namespace

Expected<InstrumentedModule> instrument(std::vector<Module> units,
                                        const InstrumentOptions& options) {
  Program program;
  program.options = options;
  TRY(program.module, link(std::move(units)));
  if (auto checked = check_names(program.module); !checked) {
    return unexpected(std::move(checked).error());
  }
  if (auto renamed = rename_registers(program.module); !renamed) {
    return unexpected(std::move(renamed).error());
  }
  const std::span<const Pass> passes =
      options.rewrites() ? std::span<const Pass>(kRewritingPipeline) : kPipeline;
  for (const Pass pass : passes) {
    if (auto passed = pass(program); !passed) {
      return unexpected(std::move(passed).error());
    }
  }
  return InstrumentedModule{.text = print(program.module),
                            .sites = std::move(program.site_table),
                            .kernels = std::move(program.kernels),
                            .not_covered = std::move(program.not_covered),
                            .register_hazards = std::move(program.register_hazards),
                            .instructions = program.instructions,
                            .logged_instructions = program.logged_instructions};
}

}  // namespace barracuda::ptx
