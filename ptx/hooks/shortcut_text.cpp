#include "ptx/hooks/shortcut_text.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "device_logger/symbols.h"
#include "device_logger/unlogged_memory.h"

namespace barracuda::ptx {

std::string skip_by_shortcut(std::string_view entry, std::uint32_t shortcut, std::uint32_t label) {
  const std::size_t range =
      offsetof(wire::HiddenArgument, shortcuts) + shortcut * sizeof(wire::UnloggedRange);
  return fmt::format(
      "{{\n.reg .b64 %__barracuda_n, %__barracuda_r;\n.reg .pred %__barracuda_q;\n"
      "ld.param.b64 %__barracuda_r, [{0}{1}+{2}];\nld.param.b64 %__barracuda_n, [{0}{1}+{3}];\n"
      "sub.s64 %__barracuda_r, %__barracuda_a, %__barracuda_r;\n"
      "setp.lt.u64 %__barracuda_q, %__barracuda_r, %__barracuda_n;\n"
      "@%__barracuda_q bra $__barracuda_skip{4};\n}}\n",
      entry, wire::kHiddenParameterSuffix, range + offsetof(wire::UnloggedRange, address),
      range + offsetof(wire::UnloggedRange, bytes), label);
}

std::string note_stray(std::string_view entry, wire::SiteId site) {
  return fmt::format(
      "ld.param.b64 %__barracuda_a, [{}{}];\nst.volatile.global.u32 [%__barracuda_a], {};\n", entry,
      wire::kHiddenParameterSuffix, index_of(site) + 1);
}

}  // namespace barracuda::ptx
