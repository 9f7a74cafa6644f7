#include "ptx/hooks/interval_text.h"

#include <string>

#include <fmt/format.h>

#include "device_logger/shared_states.h"

namespace barracuda::ptx {
namespace {

// Behind a barrier.
std::string write_next_interval(HookNames& called) {
  return fmt::format(
      "{{\n.reg .b64 %__barracuda_n;\n{}cvt.u32.u64 {}, %__barracuda_n;\n}}\n",
      write_call_for_number(called, {.name = "next_interval"}, {b32(std::string(kInterval))}),
      kInterval);
}

// As the hook does, where no thread leaves before a barrier: once it is known that there are
// states, and up to the last number.
std::string write_count_interval(std::uint32_t label, HookNames& called) {
  return fmt::format(
      "{{\n.reg .b32 %__barracuda_i;\n.reg .pred %__barracuda_f;\n"
      "add.u32 %__barracuda_i, {0}, -1;\nsetp.lt.u32 %__barracuda_f, %__barracuda_i, {1};\n"
      "@%__barracuda_f add.u32 {0}, {0}, 1;\n@%__barracuda_f bra $__barracuda_skip{2};\n"
      "{3}$__barracuda_skip{2}:\n}}\n",
      kInterval, wire::kMostIntervals - 2, label, write_next_interval(called));
}

}  // namespace

std::string declare_interval() {
  return fmt::format(".reg .b32 {0};\nmov.b32 {0}, 0;\n", kInterval);
}

std::string write_interval_end(const PlannedSite& barrier, std::uint32_t label, HookNames& called) {
  return barrier.is_counted ? write_count_interval(label, called) : write_next_interval(called);
}

std::string write_log_states(const PlannedSite& site, bool is_generic, HookNames& called) {
  if (!site.logs_states) {
    return {};
  }
  return fmt::format("{{\n.reg .b64 %__barracuda_n;\n{}}}\n",
                     write_call_for_number(called, {.name = "log_states", .is_generic = is_generic},
                                           {b32(site_word(site)), b64("%__barracuda_a"),
                                            b32(std::string(kInterval))}));
}

std::string skip_unless_frozen(std::uint32_t label) {
  return fmt::format(
      ".reg .pred %__barracuda_f;\nsetp.lt.u32 %__barracuda_f, {}, {};\n"
      "@%__barracuda_f bra $__barracuda_skip{};\n",
      kInterval, wire::kFrozen, label);
}

HookText skip_unless_logged(const Statement& barrier, std::string_view id, std::uint32_t label,
                            HookNames& called) {
  const Instruction& instruction = barrier.instruction;
  return {.before = fmt::format("{{\n{}{}.red.or{}.pred %__barracuda_q, {}, %__barracuda_q;\n"
                                "@!%__barracuda_q bra $__barracuda_skip{};\n",
                                write_question(called, {.name = "logs_barrier"}, {}),
                                text_of(instruction.opcode),
                                instruction.has(Modifier::kAligned) ? ".aligned" : "", id, label),
          .after = fmt::format("$__barracuda_skip{}:\n}}\n", label)};
}

}  // namespace barracuda::ptx
