#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/hooks/shortcut_text.h"

namespace barracuda::ptx {

std::string HookWriter::write_guard(const PlannedSite& site, const Statement& statement) {
  ASSERT(site.shortcut.has_value());
  const std::string_view entry = module_.functions[site.function].name;
  const Predicate predicate = skip_unless(statement.instruction);
  const Predicate use = skip_unless_used(site);
  bool is_generic = false;
  const std::string address =
      write_address(site, statement, is_generic) + write_part(site, statement);
  const std::uint32_t label = next_label_++;
  return fmt::format("{{\n.reg .b64 %__barracuda_a;\n{}{}{}{}{}$__barracuda_skip{}:\n{}{}}}\n",
                     predicate.before, use.before, address,
                     skip_by_shortcut(entry, *site.shortcut, label), note_stray(entry, site.id),
                     label, use.after, predicate.after);
}

}  // namespace barracuda::ptx
