#include "ptx/hooks/branch_hooks.h"

#include <iterator>

#include <fmt/format.h>

#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/hook_text.h"

namespace barracuda::ptx {
namespace {

// Lanes that are apart already stay members of what they parted from: rounds of a loop meet once.
std::string keep_members(const PlannedSite& site) {
  if (site.info.constant == wire::kNoMeeting) {
    return {};
  }
  return fmt::format(
      "setp.eq.u32 %__barracuda_p, {0}, 0;\n@%__barracuda_p mov.b32 {0}, %__barracuda_a;\n",
      members_of_meeting(site));
}

}  // namespace

std::string members_of_meeting(const PlannedSite& site) {
  return fmt::format("%__barracuda_m{}", site.info.constant);
}

std::string members_of_call(const PlannedSite& site) {
  return fmt::format("%__barracuda_c{}", site.statement);
}

std::string HookWriter::declare_members(std::span<const PlannedSite> sites) {
  std::string text;
  for (const PlannedSite& site : sites) {
    const bool is_meeting = site.hook == HookKind::kMeet;
    if (is_meeting || (site.in_lockstep && site.hook == HookKind::kCall)) {
      fmt::format_to(std::back_inserter(text), ".reg .b32 {0};\nmov.b32 {0}, 0;\n",
                     is_meeting ? members_of_meeting(site) : members_of_call(site));
    }
  }
  return text;
}

HookText HookWriter::write_branch(const PlannedSite& site, const Statement& statement) {
  const Instruction& branch = statement.instruction;
  const std::uint32_t label = next_label_++;
  return {.before = fmt::format(
              "{{\n.reg .b32 %__barracuda_a, %__barracuda_t;\n.reg .pred %__barracuda_p;\n"
              "activemask.b32 %__barracuda_a;\n"
              "vote.sync.ballot.b32 %__barracuda_t, {}{}, %__barracuda_a;\n"
              "setp.eq.u32 %__barracuda_p, %__barracuda_t, 0;\n"
              "@%__barracuda_p bra $__barracuda_skip{};\n"
              "setp.eq.u32 %__barracuda_p, %__barracuda_t, %__barracuda_a;\n"
              "@%__barracuda_p bra $__barracuda_skip{};\n{}{}$__barracuda_skip{}:\n}}\n",
              branch.predicate_negated ? "!" : "", branch.predicate, label, label,
              keep_members(site),
              write_call(called_, {.name = "event"},
                         {b32(site_word(site)), b32("%__barracuda_t"), b32("0")}),
              label)};
}

HookText HookWriter::write_switch(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  return {.before = fmt::format(
              "{{\n.reg .b32 %__barracuda_a;\n.reg .pred %__barracuda_p;\n{}"
              "activemask.b32 %__barracuda_a;\n{}{}{}}}\n",
              predicate.before, keep_members(site),
              write_call(called_, {.name = "event"},
                         {b32(site_word(site)),
                          b32(std::string(statement.instruction.operands[0].text)), b32("0")}),
              predicate.after)};
}

HookText HookWriter::write_meet(const PlannedSite& site) {
  const std::string members = members_of_meeting(site);
  const std::uint32_t label = next_label_++;
  return {
      .before = fmt::format(
          "{{\n.reg .pred %__barracuda_p;\nsetp.eq.u32 %__barracuda_p, {0}, 0;\n"
          "@%__barracuda_p bra $__barracuda_skip{1};\n{2}mov.b32 {0}, 0;\n"
          "$__barracuda_skip{1}:\n}}\n",
          members, label,
          write_call(called_, {.name = "meet"}, {b32(site_word(site)), b32(members), b32("0")}))};
}

}  // namespace barracuda::ptx
