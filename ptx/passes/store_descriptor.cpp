#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device_logger/symbols.h"
#include "device_logger/unlogged_memory.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
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

void append_parameter(Module& module, const Function& entry, bool has_shortcuts) {
  Statement& header = module.statements[entry.header];
  const std::size_t name =
      header.text.find(entry.name, header.text.find(".entry") + std::string_view(".entry").size());
  const ListEnd list = find_list_end(header.text, name + entry.name.size());
  const std::string hidden = fmt::format("{}{}", entry.name, wire::kHiddenParameterSuffix);
  const std::string parameter = has_shortcuts ? fmt::format(".param .align 8 .b8 {}[{}]", hidden,
                                                            sizeof(wire::HiddenArgument))
                                              : fmt::format(".param .u64 {}", hidden);
  const std::string inserted = !list.has_list  ? fmt::format("({})", parameter)
                               : list.is_empty ? parameter
                                               : fmt::format(",\n{}\n", parameter);
  header.text = module.own(fmt::format("{}{}{}", header.text.substr(0, list.position), inserted,
                                       header.text.substr(list.position)));
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
      append_parameter(program.module, function, !kernel->shortcuts.empty());
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
