#include "ptx/hooks/texel_hook.h"

#include <fmt/format.h>

#include "ptx/texel_form.h"

namespace barracuda::ptx {

std::string write_texels(const PlannedSite& site, const Statement& statement,
                         const WriteNumber& write_number, HookNames& called) {
  const TexelAccess access = read_texel_access(statement.instruction);
  const bool is_first = access.form.is_of_surface() || site.info.element_bytes == 1;
  if (!is_first) {
    return {};
  }
  std::string text = fmt::format(
      "{{\n.reg .b64 %__barracuda_a, %__barracuda_w0, %__barracuda_w1, %__barracuda_w2, "
      "%__barracuda_w3;\n{}",
      write_number("%__barracuda_a", *access.object, 8));
  for (std::size_t i = 0; i < access.coordinates.size(); ++i) {
    const std::string word = fmt::format("%__barracuda_w{}", i);
    const Operand* const coordinate = access.coordinates.at(i);
    text += coordinate == nullptr ? fmt::format("mov.b64 {}, 0;\n", word)
                                  : write_number(word, *coordinate, 4);
  }
  return text +
         write_call(called, {.name = "texels"},
                    {b32(site_word(site)), b64("%__barracuda_a"), b32(access.form.packed()),
                     b64("%__barracuda_w0"), b64("%__barracuda_w1"), b64("%__barracuda_w2"),
                     b64("%__barracuda_w3")}) +
         "}\n";
}

}  // namespace barracuda::ptx
