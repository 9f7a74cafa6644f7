#include "ptx/passes/hidden_parameter.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "device_logger/symbols.h"
#include "ptx/passes/program.h"

namespace barracuda::ptx::hidden_parameter {
namespace {

constexpr std::uint64_t kHiddenBytes = 8;
constexpr std::uint64_t kStaticSharedBytes = 48 * 1024;

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint64_t alignment_of(const Variable& variable) {
  const std::uint64_t natural =
      std::max<std::uint64_t>(1, std::uint64_t{size_of(variable.type)} * variable.vector);
  return std::max<std::uint64_t>(natural, variable.align);
}

std::uint64_t parameter_limit(const Module& module) {
  const bool is_large =
      module.target_arch() >= 70 &&
      (module.version_major > 8 || (module.version_major == 8 && module.version_minor >= 1));
  return is_large ? 32764 : 4096;
}

// Offset of the hidden parameter; fills the others in.
std::uint64_t lay_out(const Function& entry, Kernel& kernel) {
  std::uint64_t end = 0;
  for (const Variable& parameter : entry.parameters) {
    const std::uint64_t offset = align_up(end, alignment_of(parameter));
    end = offset + parameter.size();
    kernel.parameters.push_back({.offset = static_cast<std::uint32_t>(offset),
                                 .size = static_cast<std::uint32_t>(parameter.size())});
  }
  return align_up(end, kHiddenBytes);
}

// An upper bound of what ptxas places statically for the entry: all it may reach.
class SharedMemory {
 public:
  explicit SharedMemory(const Program& program) : program_(program) {
    std::size_t depth = 0;
    for (const Statement& statement : program.module.statements) {
      depth += statement.kind == StatementKind::kBlockOpen ? 1 : 0;
      depth -= statement.kind == StatementKind::kBlockClose ? 1 : 0;
      if (depth == 0 && statement.kind == StatementKind::kVariable) {
        for (const Variable& variable : statement.variables) {
          if (variable.space == StateSpace::kShared && !variable.is_extern) {
            variables_.push_back(&variable);
          }
        }
      }
    }
  }

  [[nodiscard]] std::uint64_t bytes_of(const FunctionFacts& entry) const {
    std::uint64_t bytes = 0;
    for (const Variable* variable : variables_) {
      const bool is_used = std::ranges::any_of(entry.reachable, [&](std::uint32_t index) {
        return std::ranges::binary_search(program_.functions[index].symbols, variable->name);
      });
      bytes = is_used ? add(bytes, *variable) : bytes;
    }
    for (const std::uint32_t index : entry.reachable) {
      const Function& function = program_.function(index);
      for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
        for (const Variable& variable : program_.module.statements[i].variables) {
          bytes = variable.space == StateSpace::kShared ? add(bytes, variable) : bytes;
        }
      }
    }
    return bytes;
  }

 private:
  static std::uint64_t add(std::uint64_t bytes, const Variable& variable) {
    return align_up(bytes, alignment_of(variable)) + variable.size();
  }

  const Program& program_;
  std::vector<const Variable*> variables_;
};

// The place in a header's text where a further parameter goes.
struct ListEnd {
  std::size_t position = 0;
  bool has_list = false, is_empty = true;
};

std::size_t skip_comment(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") {
    return std::min(text.find('\n', at), text.size());
  }
  if (text.substr(at, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  return at;
}

ListEnd find_list_end(std::string_view text, std::size_t name_end) {
  ListEnd list{.position = name_end};
  int depth = 0;
  for (std::size_t at = name_end; at < text.size(); ++at) {
    if (const std::size_t next = skip_comment(text, at); next != at) {
      at = next - 1;
      continue;
    }
    const char c = text[at];
    if (c == '(') {
      list.has_list = true;
      ++depth;
    } else if (c == ')') {
      if (--depth == 0) {
        list.position = at;
        return list;
      }
    } else if (depth > 0 && c > ' ') {
      list.is_empty = false;
    } else if (depth == 0 && c == '.') {  // .maxntid …: there is no list
      return list;
    }
  }
  return list;
}

void append_parameter(Module& module, const Function& entry) {
  Statement& header = module.statements[entry.header];
  const std::size_t name =
      header.text.find(entry.name, header.text.find(".entry") + std::string_view(".entry").size());
  const ListEnd list = find_list_end(header.text, name + entry.name.size());
  const std::string parameter =
      fmt::format(".param .u64 {}{}", entry.name, wire::kHiddenParameterSuffix);
  const std::string inserted = !list.has_list  ? fmt::format("({})", parameter)
                               : list.is_empty ? parameter
                                               : fmt::format(",\n{}\n", parameter);
  header.text = module.own(fmt::format("{}{}{}", header.text.substr(0, list.position), inserted,
                                       header.text.substr(list.position)));
}

}  // namespace

Expected<void> run(Program& program) {
  const SharedMemory shared(program);
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& entry = program.function(i);
    if (!entry.is_entry || !entry.has_body) {
      continue;
    }
    FunctionFacts& facts = program.functions[i];
    Kernel kernel{.name = std::string(entry.name)};
    const std::uint64_t offset = lay_out(entry, kernel);
    const std::uint64_t shared_bytes = align_up(shared.bytes_of(facts), kHiddenBytes);
    if (shared_bytes + kHiddenBytes > kStaticSharedBytes) {
      kernel.reason =
          fmt::format("its {} bytes of static shared memory leave no room", shared_bytes);
      // Nothing that it calls may use our shared word either.
      for (const std::uint32_t callee : facts.reachable) {
        program.functions[callee].is_instrumented = false;
      }
    } else if (offset + kHiddenBytes > parameter_limit(program.module)) {
      kernel.reason = fmt::format("its {} bytes of parameters leave no room", offset);
      facts.stores_null_descriptor = facts.may_log;
    } else {
      kernel.hidden_parameter_offset = static_cast<std::uint32_t>(offset);
      kernel.instrumented = true;
      append_parameter(program.module, entry);
    }
    kernel.numbered = facts.is_numbered;
    program.kernels.push_back(std::move(kernel));
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const Kernel* kernel = program.find_kernel(function.name);
    if (kernel != nullptr && !kernel->instrumented) {
      program.functions[i].is_instrumented = false;
      program.not_covered.push_back({.function = kernel->name, .reason = kernel->reason});
    } else if (function.has_body && !program.functions[i].is_instrumented &&
               program.functions[i].may_log) {
      program.not_covered.push_back(
          {.function = std::string(function.name),
           .reason = "a kernel without room for the launch descriptor may call it"});
    }
  }
  return {};
}

}  // namespace barracuda::ptx::hidden_parameter
