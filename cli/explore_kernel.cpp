#include "cli/explore_kernel.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/number_text.h"
#include "cli/kernel_source.h"
#include "ptx/abi.h"
#include "ptx/inline_calls.h"
#include "ptx/instrument.h"
#include "report/symbol_name.h"

namespace barracuda::cli {
namespace {

using memory_model::KernelReading;
using memory_model::KernelThread;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// The last word of a parameter's declaration, before an array's brackets.
std::string declared_name(std::string_view declaration) {
  declaration = declaration.substr(0, std::min(declaration.find('['), declaration.find('=')));
  std::size_t end = declaration.size();
  while (end > 0 && !is_word(declaration[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(declaration[begin - 1])) {
    --begin;
  }
  return std::string(declaration.substr(begin, end - begin));
}

// The parts of a parameter list, up to the bracket that ends it; none: it does not end.
std::optional<std::vector<std::string>> parameter_names(std::string_view text) {
  std::vector<std::string> names;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (depth == 0 && (letter == ',' || letter == ')')) {
      names.push_back(declared_name(text.substr(begin, i - begin)));
      begin = i + 1;
      if (letter == ')') {
        return names;
      }
    }
    depth += letter == '(' || letter == '<' ? 1 : 0;
    depth -= (letter == ')' || letter == '>') && depth > 0 ? 1 : 0;
  }
  return std::nullopt;
}

// The names that the source gives the parameters; PTX does not keep them. None found: arg0, arg1.
std::vector<std::string> names_of_parameters(const std::string& file, const ptx::Function& entry) {
  std::vector<std::string> numbered;
  numbered.reserve(entry.parameters.size());
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    numbered.push_back(fmt::format("arg{}", i));
  }
  const auto source = is_cuda_source(file) ? read_file(file) : Expected<std::string>("");
  if (!source) {
    return numbered;
  }
  const std::string name = report::last_name(report::demangle(std::string(entry.name)));
  for (std::size_t at = source->find(name); at != std::string::npos;
       at = source->find(name, at + 1)) {
    const std::size_t open = at + name.size();
    const bool is_whole = (at == 0 || !is_word((*source)[at - 1])) && (*source)[open] == '(';
    const auto names =
        is_whole ? parameter_names(std::string_view(*source).substr(open + 1)) : std::nullopt;
    const bool fits = names && names->size() == entry.parameters.size() &&
                      std::ranges::none_of(*names, &std::string::empty);
    if (fits && source->rfind("__global__", at) != std::string::npos) {
      return *names;
    }
  }
  return numbered;
}

// Gives the buffers addresses, and puts these where the kernel looks.
void place_buffers(KernelArgument& argument, const std::string& name, ptx::LiteralLaunch& launch) {
  for (std::size_t i = 0; i < argument.members.size(); ++i) {
    KernelArgument& member = argument.members[i];
    place_buffers(member, fmt::format("{}_{}", name, i), launch);
    const void* const from =
        member.is_buffer ? static_cast<const void*>(&member.address) : member.bytes.data();
    std::memcpy(argument.bytes.data() + member.offset, from, parameter_bytes(member));
  }
  if (argument.is_buffer) {
    argument.address =
        ptx::literal_buffer_address(static_cast<std::uint32_t>(launch.memory.size()));
    launch.memory.push_back({.name = name,
                             .address = argument.address,
                             .element_bytes = static_cast<std::uint32_t>(argument.type.bytes),
                             .bytes = argument.bytes});
  }
}

ptx::LiteralLaunch launch_of(const ExploredKernel& command, const ptx::Function& entry,
                             std::vector<KernelArgument> arguments,
                             const std::vector<std::string>& names) {
  ptx::LiteralLaunch launch;
  launch.grid = {.x = command.grid[0], .y = command.grid[1], .z = command.grid[2]};
  launch.block = {.x = command.block[0], .y = command.block[1], .z = command.block[2]};
  launch.dynamic_shared_bytes = command.shared_bytes;
  launch.spelling = [](const std::string& name) {
    return report::last_name(report::demangle(name));
  };
  const ptx::ParameterLayout layout = ptx::parameter_layout(entry);
  launch.parameters.resize(layout.bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    place_buffers(arguments[i], names[i], launch);
    const void* const from = arguments[i].is_buffer
                                 ? static_cast<const void*>(&arguments[i].address)
                                 : arguments[i].bytes.data();
    std::memcpy(launch.parameters.data() + layout.places[i].offset, from, layout.places[i].size);
  }
  return launch;
}

bool calls_functions(const ptx::Module& module, const ptx::Function& entry) {
  return entry.has_body &&
         std::any_of(module.statements.begin() + static_cast<std::ptrdiff_t>(entry.body_begin),
                     module.statements.begin() + static_cast<std::ptrdiff_t>(entry.body_end),
                     [](const ptx::Statement& each) {
                       return each.kind == ptx::StatementKind::kInstruction &&
                              each.instruction.opcode == ptx::Opcode::kCall;
                     });
}

// As the detector's rewriter decides it. Where it cannot, there are none.
void find_flags(const std::string& text, const ptx::Function& entry, ptx::LiteralLaunch& launch) {
  auto module = ptx::parse(text);
  std::vector<ptx::Module> units;
  if (module) {
    units.push_back(*std::move(module));
  }
  const auto instrumented = ptx::instrument(std::move(units), {.reduce_in_block = false});
  if (!instrumented) {
    return;
  }
  for (const ptx::Site& site : instrumented->sites) {
    if (site.function == entry.name && site.info.flag_store) {
      launch.flag_stores[site.ptx_line] = site.info.idiom_scope;
    }
    if (site.function == entry.name && site.info.poll) {
      launch.polls[site.ptx_line] = site.info.idiom_scope;
    }
  }
}

std::array<std::uint32_t, 3> coordinates(std::uint32_t number,
                                         const std::array<std::uint32_t, 3>& size) {
  return {number % size[0], number / size[0] % size[1], number / size[0] / size[1]};
}

Expected<std::vector<KernelThread>> threads_of(const ExploredKernel& command) {
  std::vector<KernelThread> threads;
  for (const std::string& text : command.threads) {
    const std::string_view words = text;
    const std::size_t colon = std::min(words.find(':'), words.size());
    const auto block = parse_number<std::uint32_t>(words.substr(0, colon));
    const auto thread =
        parse_number<std::uint32_t>(words.substr(std::min(colon + 1, words.size())));
    if (!block || !thread) {
      return unexpected(
          {.message = fmt::format("--threads {}: BLOCK:THREAD is expected, as 0:32", text)});
    }
    threads.push_back({.block = coordinates(*block, command.grid),
                       .thread = coordinates(*thread, command.block)});
  }
  return threads;
}

}  // namespace

std::string first_kernel_flag(const ExploredKernel& command) {
  const ExploredKernel none;
  return !command.kernel.empty()       ? "--kernel"
         : command.grid != none.grid   ? "--grid"
         : command.block != none.block ? "--block"
         : command.shared_bytes != 0   ? "--shared"
         : !command.arguments.empty()  ? "--arg"
         : !command.threads.empty()    ? "--threads"
         : !command.exists.empty()     ? "--exists"
         : command.shows_all           ? "--final"
                                       : "";
}

Expected<KernelReading> read_explored_kernel(const std::string& file, const ExploredKernel& command,
                                             const memory_model::ExploreOptions& options) {
  const auto in_file = [&](Diagnostic problem) {
    problem.file = problem.file.empty() ? file : problem.file;
    return unexpected(std::move(problem));
  };
  TRY(std::string text, kernel_ptx(file, command.kernel, options.stops));
  Expected<ptx::Module> module;
  const auto read = [&]() -> Expected<const ptx::Function*> {
    module = ptx::parse(text);
    return module ? find_entry(*module, command.kernel) : unexpected(module.error());
  };
  auto entry = read();
  if (entry && calls_functions(*module, **entry)) {
    text = ptx::inline_calls(*module, **entry);
    entry = read();
  }
  if (!entry) {
    return in_file(entry.error());
  }
  TRY(auto arguments, fit_arguments(**entry, command.arguments));
  const auto names = names_of_parameters(file, **entry);
  auto launch = launch_of(command, **entry, std::move(arguments), names);
  find_flags(text, **entry, launch);
  const auto kernel = ptx::LiteralKernel::create(*module, **entry, std::move(launch));
  if (!kernel) {
    return in_file(kernel.error());
  }
  memory_model::KernelQuestion question;
  question.shows_all = command.shows_all;
  if (!command.exists.empty()) {
    TRY(question.condition,
        memory_model::read_kernel_condition(command.exists, *kernel, question.named));
  }
  TRY(const auto threads, threads_of(command));
  auto reading = memory_model::read_kernel(*kernel, question, threads, options);
  if (!reading) {
    return in_file(reading.error());
  }
  reading->test.name = short_name(**entry);
  return reading;
}

}  // namespace barracuda::cli
