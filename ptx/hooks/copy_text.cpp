#include "ptx/hooks/copy_text.h"

#include <fmt/format.h>

#include "device_logger/copy_states.h"
#include "ptx/hooks/interval_text.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kGroups = "%__barracuda_groups";

}  // namespace

std::string declare_groups() {
  return fmt::format(".reg .b32 {0};\nmov.b32 {0}, 0;\n", kGroups);
}

std::string write_copy(const PlannedSite& site, HookNames& called) {
  return write_call(called, {.name = "copy"},
                    {b32(site_word(site)), b64("%__barracuda_a"), b32(std::string(kInterval)),
                     b32(std::string(kGroups))});
}

std::string note_logged_read(const PlannedSite& site) {
  if (!site.keeps_copies || site.info.operation != wire::Operation::kRead) {
    return {};
  }
  return fmt::format("or.b32 {0}, {0}, {1};\n", kGroups, wire::kLogsGroups);
}

std::string write_groups(const PlannedSite& site, const Statement& statement, HookNames& called) {
  const HookArgument id = b32(site_word(site)), groups = b32(std::string(kGroups));
  const Operand* const left = operand_at(statement, site.effect.amount_operand);
  const std::string call =
      site.info.operation == wire::Operation::kAsyncCommit
          ? write_call_for_number(called, {.name = "commit_copies"}, {id, groups})
          : write_call_for_number(
                called, {.name = "wait_copies"},
                {id, left == nullptr ? b32(wire::kWaitAll) : b32(std::string(left->text)), groups,
                 b32(std::string(kInterval))});
  return fmt::format("{{\n.reg .b64 %__barracuda_n;\n{}cvt.u32.u64 {}, %__barracuda_n;\n}}\n", call,
                     kGroups);
}

}  // namespace barracuda::ptx
