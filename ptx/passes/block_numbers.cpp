#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::block_numbers {
namespace {

// What a launch may change.
enum class Choice : std::uint8_t { kNumbers, kSizes, kThreads };

struct Special {
  std::string_view name;  // the hook's, with '%' in front the register's
  Choice choice;
  bool when_logged = false;  // the logger knows of it, too
};

constexpr Special kSpecials[] = {
    {.name = "ctaid", .choice = Choice::kNumbers, .when_logged = true},
    {.name = "clusterid", .choice = Choice::kNumbers},
    {.name = "nctaid", .choice = Choice::kSizes},
    {.name = "nclusterid", .choice = Choice::kSizes},
    {.name = "tid", .choice = Choice::kThreads},
};
constexpr std::string_view kCoordinates = "xyz";
// wgmma, tcgen05 and setmaxnreg know warps by fours.
constexpr std::uint32_t kWarpGroup = 4;

// Of one function: what can be other than on the device, all that reads it being rewritten.
struct Abilities {
  bool numbers = true, sizes = true, threads = true;
  std::uint32_t warps_together = 1;

  bool& of(Choice choice) {
    return choice == Choice::kNumbers ? numbers : choice == Choice::kSizes ? sizes : threads;
  }
};

template <typename Is>
bool has(const Operand& operand, const Is& is) {
  return is(operand) || std::ranges::any_of(operand.elements, [&](const Operand& element) {
           return has(element, is);
         });
}

bool names(const Statement& statement, std::string_view special) {
  return std::ranges::any_of(statement.instruction.operands, [&](const Operand& operand) {
    return has(operand, [&](const Operand& each) {
      return each.kind == Operand::Kind::kSpecial && each.name.substr(1) == special;
    });
  });
}

// All its coordinates at once, for which there is no hook.
bool names_whole(const Statement& statement, std::string_view special) {
  return std::ranges::any_of(statement.instruction.operands, [&](const Operand& operand) {
    return has(operand, [&](const Operand& each) {
      return each.kind == Operand::Kind::kSpecial && each.name.substr(1) == special &&
             each.component.size() != 1;
    });
  });
}

bool is_replaced(const Special& special, const InstrumentOptions& options) {
  if (!options.is_stressed) {
    return options.renumbers_blocks && special.when_logged;
  }
  return special.choice != Choice::kThreads || options.permutes_warps;
}

// The text of the instruction with a register of ours in the place of each coordinate, and in
// `before` what fills these.
std::string rewrite(std::string text, const Special& special, HookNames& called,
                    std::string& before) {
  for (std::size_t c = 0; c < kCoordinates.size(); ++c) {
    const std::string read = fmt::format("%{}.{}", special.name, kCoordinates[c]);
    const std::string ours = fmt::format("%__barracuda_{}_{}", special.name, kCoordinates[c]);
    std::size_t at = text.find(read);
    if (at == std::string::npos) {
      continue;
    }
    before += fmt::format(".reg .b32 {};\n", ours) +
              write_call(called, {.name = special.name}, {b32(fmt::to_string(c))},
                         ".param .b32 __barracuda_result;\n",
                         fmt::format("ld.param.b32 {}, [__barracuda_result];\n", ours));
    for (; at != std::string::npos; at = text.find(read, at + ours.size())) {
      text.replace(at, read.size(), ours);
    }
  }
  return text;
}

void rewrite(Program& program, Statement& statement) {
  std::string text(statement.text), before;
  for (const Special& special : kSpecials) {
    if (is_replaced(special, program.options) && names(statement, special.name)) {
      text = rewrite(std::move(text), special, program.called_hooks, before);
    }
  }
  if (!before.empty()) {
    statement = Statement{};
    statement.text = program.module.own(fmt::format("{{\n{}{}\n}}", before, text));
  }
}

Abilities rewrite(Program& program, const Function& function, bool is_rewritten) {
  Abilities can;
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    Statement& statement = program.module.statements[i];
    for (const Special& special : kSpecials) {
      const bool is_read = names(statement, special.name);
      if (is_read && (!is_rewritten || !is_replaced(special, program.options) ||
                      names_whole(statement, special.name))) {
        can.of(special.choice) = false;
      }
    }
    // A program that counts multiprocessors may lay itself out by them.
    can.sizes = can.sizes && !names(statement, "nsmid") && !names(statement, "smid");
    can.threads = can.threads && !names(statement, "warpid");
    const Opcode opcode = statement.instruction.opcode;
    if (opcode == Opcode::kWgmma || opcode == Opcode::kTcgen05 || opcode == Opcode::kSetmaxnreg) {
      can.warps_together = kWarpGroup;
    }
    if (is_rewritten) {
      rewrite(program, statement);
    }
  }
  return can;
}

Abilities all_of(const std::vector<Abilities>& functions,
                 const std::vector<std::uint32_t>& reachable) {
  Abilities all;
  for (const std::uint32_t index : reachable) {
    const Abilities& one = functions[index];
    all.numbers = all.numbers && one.numbers;
    all.sizes = all.sizes && one.sizes;
    all.threads = all.threads && one.threads;
    all.warps_together = std::max(all.warps_together, one.warps_together);
  }
  return all;
}

}  // namespace

Expected<void> run(Program& program) {
  const InstrumentOptions& options = program.options;
  if (!options.renumbers_blocks && !options.is_stressed) {
    return {};
  }
  std::vector<Abilities> can(program.functions.size());
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body) {
      can[i] = rewrite(program, program.function(i), program.functions[i].is_instrumented);
    }
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const auto kernel = std::ranges::find(program.kernels, program.function(i).name, &Kernel::name);
    if (kernel != program.kernels.end() && kernel->instrumented) {
      const Abilities all = all_of(can, program.functions[i].reachable);
      kernel->renumbers_blocks = all.numbers;
      kernel->resizes_grid = options.is_stressed && all.numbers && all.sizes;
      kernel->warps_together = options.permutes_warps && all.threads ? all.warps_together : 0;
    }
  }
  return {};
}

}  // namespace barracuda::ptx::block_numbers
