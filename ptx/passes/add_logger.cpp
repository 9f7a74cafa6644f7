#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "device_logger/logger_image.h"
#include "device_logger/symbols.h"
#include "ptx/analysis/program.h"
#include "ptx/parse.h"
#include "ptx/passes/passes.h"
#include "ptx/target_name.h"

namespace barracuda::ptx::add_logger {
namespace {

// Parsed once a process for each text that there is.
Expected<const Module*> logger_for(const Program& program) {
  static std::mutex mutex;
  static auto* const loggers = new std::map<const char*, Module>;
  const std::uint32_t arch = program.module.target_arch();
  const std::string_view text =
      program.options.rewrites() ? wire::store_buffer_ptx(arch) : wire::logger_ptx(arch);
  const std::lock_guard lock(mutex);
  auto found = loggers->find(text.data());
  if (found == loggers->end()) {
    TRY(Module logger, parse(std::string(text)));
    found = loggers->emplace(text.data(), std::move(logger)).first;
  }
  return &found->second;
}

// The text of the statements [begin, end).
void append(std::string& text, const Module& module, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    text += module.statements[i].text;
    text += '\n';
  }
}

bool are_block_words(const Variable& variable) {
  return variable.name == wire::kBlockWords;
}

// With the functions that they call.
HookNames with_callees(const Module& logger, HookNames called) {
  const auto visit = [&](const Function& function) {
    bool is_new = false;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Instruction& instruction = logger.statements[i].instruction;
      if (instruction.opcode == Opcode::kCall) {
        for (const Operand& operand : instruction.operands) {
          is_new = (logger.find_function(operand.text) != nullptr &&
                    called.emplace(operand.text).second) ||
                   is_new;
        }
      }
    }
    return is_new;
  };
  bool is_new = true;
  while (is_new) {
    is_new = false;
    for (const Function& function : logger.functions) {
      is_new = (called.contains(function.name) && visit(function)) || is_new;
    }
  }
  return called;
}

std::string select(const Module& logger, const Program& program) {
  const HookNames called = with_callees(logger, program.called_hooks);
  std::string text;
  for (std::size_t i = 0; i < logger.statements.size(); ++i) {
    const Statement& statement = logger.statements[i];
    if (declares(statement, are_block_words)) {
      text +=
          fmt::format(".shared .align {0} .b8 {1}[{0}];\n.extern .shared .align 16 .b8 {2}[];\n",
                      program.descriptor_alignment, wire::kBlockWords, wire::kDynamicShared);
    } else if (statement.kind == StatementKind::kVariable) {
      append(text, logger, i, i + 1);
    } else if (statement.kind == StatementKind::kFunction) {
      const Function& function = logger.functions[statement.function];
      ASSERT(function.body_end > i);  // the logger declares no function without its body
      if (called.contains(function.name)) {
        append(text, logger, i, function.body_end + 1);
      }
      i = function.body_end;
    }
  }
  if (called.contains(wire::kTexelsHook)) {
    text += fmt::format(
        ".extern .func {}(.param .b32 site, .param .b64 object, .param .b32 form, .param .b64 x, "
        ".param .b64 y, .param .b64 z, .param .b64 layer);\n",
        wire::kTexelsHook);
  }
  text.pop_back();
  return text;
}

std::tuple<std::uint32_t, std::uint32_t> version_of(const Module& module) {
  return {module.version_major, module.version_minor};
}

// Not of "debug" and the like, which name no architecture.
bool is_below(std::string_view target, const Module& logger) {
  const std::uint32_t architecture = architecture_of(target);
  return architecture != 0 && architecture < logger.target_arch();
}

// The module's .version and .target must be at least the logger's. Either may stand more than once.
void raise(Module& module, const Module& logger) {
  for (Statement& statement : module.statements) {
    if (statement.kind == StatementKind::kVersion && version_of(module) < version_of(logger)) {
      statement.text =
          module.own(fmt::format(".version {}.{}", logger.version_major, logger.version_minor));
    } else if (statement.kind == StatementKind::kTarget &&
               is_below(statement.targets.front(), logger)) {
      statement.targets.front() = module.own(std::string(logger.target));
      statement.text = module.own(fmt::format(".target {}", fmt::join(statement.targets, ", ")));
    }
  }
}

}  // namespace

Expected<void> run(Program& program) {
  Module& module = program.module;
  TRY(const Module* const found, logger_for(program));
  const Module& logger = *found;
  const bool stores_descriptor = std::ranges::any_of(
      program.functions, [](const FunctionFacts& f) { return f.stores_null_descriptor; });
  const bool has_kernels =
      std::ranges::any_of(program.kernels, [](const Kernel& k) { return k.instrumented; });
  if (program.called_hooks.empty() && !stores_descriptor && !has_kernels) {
    return {};
  }
  raise(module, logger);
  Statement functions;
  functions.text = module.own(select(logger, program));
  const auto after = std::ranges::find_if(module.statements, [](const Statement& statement) {
    return statement.kind != StatementKind::kVersion && statement.kind != StatementKind::kTarget &&
           statement.kind != StatementKind::kAddressSize;
  });
  module.statements.insert(after, std::move(functions));
  module.index_functions();
  return {};
}

}  // namespace barracuda::ptx::add_logger
