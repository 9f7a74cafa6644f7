#include "ptx/hooks/interval_text.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "device_logger/shared_states.h"
#include "device_logger/site_word.h"

namespace barracuda::ptx {
namespace {

// Behind a barrier: what the hook says becomes the interval, after which `then` sees all of it.
std::string number_from(HookNames& called, std::string_view hook, std::string_view registers = "",
                        std::string_view then = "") {
  return fmt::format("{{\n.reg .b64 %__barracuda_n;\n{}{}cvt.u32.u64 {}, %__barracuda_n;\n{}}}\n",
                     registers,
                     write_call_for_number(called, {.name = hook}, {b32(std::string(kInterval))}),
                     kInterval, then);
}

std::string write_next_interval(HookNames& called) {
  return number_from(called, "next_interval");
}

// Behind a barrier that all threads of a block come to together.
std::string write_count_on(HookNames& called) {
  return number_from(called, "count_interval", ".reg .pred %__barracuda_q;\n",
                     fmt::format("setp.ge.u64 %__barracuda_q, %__barracuda_n, {};\n"
                                 "@%__barracuda_q barrier.sync 0;\n",
                                 wire::kAllMeet));
}

// As the hook does, where no thread leaves before a barrier: once it is known that there are
// states, and up to the last number.
std::string write_count_interval(const PlannedSite& barrier, std::uint32_t label,
                                 HookNames& called) {
  const std::uint32_t round = wire::warp_bits(barrier.counts_warps);
  const std::string count =
      barrier.counts_warps != 0
          ? fmt::format(
                "or.b32 %__barracuda_i, {0}, {1};\nadd.u32 %__barracuda_i, %__barracuda_i, 1;\n"
                "setp.lt.u32 %__barracuda_f, %__barracuda_i, {2};\n"
                "@%__barracuda_f mov.b32 {0}, %__barracuda_i;\n",
                kInterval, round, barrier.counts_warps + wire::kMostIntervals - round)
          : fmt::format(
                "and.b32 %__barracuda_i, {0}, {2};\nadd.u32 %__barracuda_i, %__barracuda_i, -1;\n"
                "setp.lt.u32 %__barracuda_f, %__barracuda_i, {1};\n"
                "@%__barracuda_f add.u32 {0}, {0}, 1;\n",
                kInterval, wire::kMostIntervals - 2, ~wire::kLaterRound);
  return fmt::format(
      "{{\n.reg .b32 %__barracuda_i;\n.reg .pred %__barracuda_f;\n{0}"
      "@%__barracuda_f bra $__barracuda_skip{1};\n{2}$__barracuda_skip{1}:\n}}\n",
      count, label,
      barrier.counts_warps != 0 ? write_next_interval(called) : write_count_on(called));
}

// Whether one more barrier of the warp can be counted, into %__barracuda_f.
std::string ask_for_count(const PlannedSite& barrier) {
  const std::uint32_t round = wire::warp_bits(barrier.counts_warps);
  return fmt::format(
      "{{\n.reg .b32 %__barracuda_i;\n.reg .pred %__barracuda_f;\n"
      "and.b32 %__barracuda_i, {}, {};\nsetp.lt.u32 %__barracuda_f, %__barracuda_i, {};\n",
      kInterval, wire::kFrozen | round, round);
}

}  // namespace

std::string declare_interval(std::uint32_t counts_warps, HookNames& called) {
  return fmt::format(".reg .b32 {0};\nmov.b32 {0}, {1};\n{2}", kInterval, counts_warps,
                     counts_warps != 0 ? write_next_interval(called) : "");
}

std::string write_interval_end(const PlannedSite& barrier, std::uint32_t label, HookNames& called) {
  return barrier.is_counted ? write_count_interval(barrier, label, called)
                            : write_next_interval(called);
}

HookText write_warp_barrier(const PlannedSite& barrier, std::string_view event, std::uint32_t label,
                            HookNames& called) {
  return {.before = fmt::format("{}@%__barracuda_f bra $__barracuda_skip{};\n{}{}"
                                "$__barracuda_skip{}:\n}}\n",
                                ask_for_count(barrier), label, write_tell_barriers(barrier, called),
                                event, label),
          .after = fmt::format("{0}@%__barracuda_f add.u32 {1}, {1}, 1;\n}}\n",
                               ask_for_count(barrier), kInterval)};
}

std::string write_tell_barriers(const PlannedSite& site, HookNames& called) {
  return site.counts_warps != 0 ? write_call(called, {.name = "tell_barriers"},
                                             {b32(site_word(site)), b32(std::string(kInterval))})
                                : std::string{};
}

// Who is frozen says of no interval that it leaves in it, and the thread needs its own no more.
std::string write_before_event(const PlannedSite& site, HookNames& called) {
  if (!site.counts_intervals) {
    return write_tell_barriers(site, called);
  }
  return site.leaves_early && !site.is_counted
             ? fmt::format(
                   "{{\n.reg .pred %__barracuda_f;\nsetp.eq.u32 %__barracuda_f, {0}, 0;\n"
                   "@%__barracuda_f mov.b32 {0}, {1};\n}}\n",
                   kInterval, wire::kFrozen)
             : std::string{};
}

std::string_view of_memory(const PlannedSite& site, std::string_view global,
                           std::string_view other) {
  return site.effect.space == StateSpace::kGlobal ? global : other;
}

std::string write_log_states(const PlannedSite& site, bool is_generic, HookNames& called) {
  std::string told = write_tell_barriers(site, called);
  if (!site.logs_states) {
    return told;
  }
  const Hook hook = {.name = of_memory(site, "log_owners", "log_states"), .is_generic = is_generic};
  return fmt::format("{}{{\n.reg .b64 %__barracuda_n;\n{}}}\n", told,
                     write_call_for_number(called, hook,
                                           {b32(site_word(site) | wire::kAlwaysLogged),
                                            b64("%__barracuda_a"), b32(std::string(kInterval))}));
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
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string any;
  if (instruction.opcode == Opcode::kBarrier && !instruction.has(Modifier::kAligned) &&
      std::ranges::all_of(id, is_digit)) {
    const std::string name = fmt::format("{}{}", kAnyAtBarrier, id);
    any = write_call_for_number(called, {.name = name}, {b64("%__barracuda_n")}) +
          "setp.ne.b64 %__barracuda_q, %__barracuda_n, 0;\n";
  } else {
    any = fmt::format("{}.red.or{}.pred %__barracuda_q, {}, %__barracuda_q;\n",
                      text_of(instruction.opcode),
                      instruction.has(Modifier::kAligned) ? ".aligned" : "", id);
  }
  return {.before = fmt::format("{{\n{}{}@!%__barracuda_q bra $__barracuda_skip{};\n",
                                write_question(called, {.name = "logs_barrier"}, {}), any, label),
          .after = fmt::format("$__barracuda_skip{}:\n}}\n", label)};
}

HookText skip_unless_last(std::uint32_t label, HookNames& called) {
  return {.before = fmt::format("{{\n{}@!%__barracuda_q bra $__barracuda_skip{};\n",
                                write_question(called, {.name = "logs_exit"}, {}), label),
          .after = fmt::format("$__barracuda_skip{}:\n}}\n", label)};
}

}  // namespace barracuda::ptx
