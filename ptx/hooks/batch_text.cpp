#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/hooks/interval_text.h"

namespace barracuda::ptx {
namespace {

// Of each load its address and the word of its site, in local memory.
constexpr std::string_view kBatch = "__barracuda_batch";
constexpr std::uint32_t kEntryBytes = 16, kWordAt = 8;

}  // namespace

std::string declare_batch() {
  return fmt::format(".local .align 8 .b8 {}[{}];\n", kBatch, kMostInBatch * kEntryBytes);
}

// NVIDIA's compiler takes most of its time for the calls of hooks, so there is one for all loads,
// in a loop. Lanes go through it together: each has as many rounds, if only to find that it has no
// address.
std::string HookWriter::write_batch(std::span<const PlannedSite* const> loads) {
  ASSERT(!loads.empty() && loads.size() <= kMostInBatch);
  const PlannedSite& first = *loads.front();
  const std::uint32_t label = next_label_++;
  std::string text = "{\n";
  if (first.in_read_only_interval) {
    text += skip_unless_frozen(label);
  }
  bool is_generic = false;
  bool is_matrix = false;
  std::uint32_t at = 0;
  for (const PlannedSite* const load : loads) {
    const Statement& statement = module_.statements[load->statement];
    text += fmt::format(
        "{{\n.reg .b64 %__barracuda_a;\n{}{}st.local.b64 [{}+{}], %__barracuda_a;\n"
        "st.local.b32 [{}+{}], {};\n}}\n",
        write_address(*load, statement, is_generic), write_part(*load, statement), kBatch, at,
        kBatch, at + kWordAt, site_word(*load));
    is_matrix = is_matrix || is_matrix_access(load->effect);
    at += kEntryBytes;
  }
  const HookArgument id = b32("%__barracuda_w"), where = b64("%__barracuda_a"),
                     count = b32(std::string(kInterval));
  const Predicate needless =
      first.in_read_only_interval
          ? Predicate{}
          : skip_if({.name = state_hook(first), .is_generic = is_generic}, {id, where, count});
  text += fmt::format(
      ".reg .b64 %__barracuda_a, %__barracuda_e, %__barracuda_z;\n.reg .b32 %__barracuda_w;\n"
      ".reg .pred %__barracuda_m;\nmov.b64 %__barracuda_e, {0};\n"
      "add.s64 %__barracuda_z, %__barracuda_e, {1};\n$__barracuda_next{2}:\n"
      "ld.local.b64 %__barracuda_a, [%__barracuda_e];\n"
      "ld.local.b32 %__barracuda_w, [%__barracuda_e+{3}];\n{{\n{4}{5}{6}}}\n"
      "add.s64 %__barracuda_e, %__barracuda_e, {7};\n"
      "setp.lt.u64 %__barracuda_m, %__barracuda_e, %__barracuda_z;\n"
      "@%__barracuda_m bra $__barracuda_next{2};\n",
      kBatch, at, label, kWordAt, needless.before,
      write_call(called_, {.name = "followed_access", .is_generic = is_generic},
                 {id, where, count}),
      needless.after, kEntryBytes);
  if (first.in_read_only_interval) {
    text += fmt::format("$__barracuda_skip{}:\n", label);
  }
  if (is_matrix) {
    text += kMeetInWarp;  // some lanes have a piece, and .aligned is of all
  }
  return text + "}\n";
}

}  // namespace barracuda::ptx
