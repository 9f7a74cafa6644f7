// A random trace in words, for who reads a counterexample.
#include <array>
#include <bit>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/oracle/host_detector/random_trace.h"
#include "tests/oracle/host_detector/work_number.h"

namespace barracuda::oracle {

using detector::LaunchId;
using detector::WorkId;
using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

std::string describe(const Trace& trace) {
  constexpr std::array kOperations{
      "read",         "write",      "atomic",      "red",         "fence",        "barrier",
      "arrive",       "syncwarp",   "call",        "return",      "exit",         "cluster.arrive",
      "cluster.wait", "dependents", "gridwait",    "fence.proxy", "mb.init",      "mb.inval",
      "mb.arrive",    "mb.expect",  "mb.complete", "mb.wait",     "async.arrive", "commit",
      "wait_group",   "copy"};
  constexpr std::array kKinds{"void",    "affine", "scattered", "release",
                              "acquire", "event",  "operands"};
  constexpr std::array kOrderNames{"weak",    "volatile", "relaxed", "acquire",
                                   "release", "acq_rel",  "sc"};
  constexpr std::array kScopeNames{"cta", "cluster", "gpu", "sys"};
  constexpr std::array kHostOperations{"copy", "memset", "constants", "allocation", "free"};
  std::string text;
  const auto after = [](const std::vector<WorkId>& launches) {
    std::string list = " after";
    for (const WorkId launch : launches) {
      list += fmt::format(" {:x}", number_of(launch));
    }
    return list + "\n";
  };
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      text += fmt::format("launch {} grid {} block {}", static_cast<std::uint32_t>(launch->id),
                          launch->grid.x, launch->block.x);
      if (launch->prerequisite != LaunchId{}) {
        text += fmt::format(" programmatic on {} whose end is {:x}",
                            static_cast<std::uint32_t>(launch->prerequisite),
                            number_of(launch->prerequisite_over));
      }
      text += after(launch->ordered_after);
      continue;
    }
    if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      text +=
          fmt::format("{} {} id {:x}", kHostOperations[static_cast<std::size_t>(copy->operation)],
                      static_cast<std::uint32_t>(copy->call), number_of(copy->id));
      for (const detector::MemoryRows& rows : copy->accesses) {
        text += fmt::format(" {} {:x}+{} {}x{}", rows.is_written ? "write" : "read", rows.address,
                            rows.row_bytes, rows.rows, rows.pitch);
      }
      text += after(copy->ordered_after);
      continue;
    }
    const auto& operation = std::get<detector::WarpOperation>(step);
    const auto& site = trace.sites[static_cast<std::size_t>(operation.site)];
    text += fmt::format("#{} L{} cta{} w{} mask{:x} {} {} {}.{} {}x{}{}{}{}",
                        static_cast<std::uint32_t>(operation.site),
                        static_cast<std::uint32_t>(operation.launch), operation.cta, operation.warp,
                        operation.mask, kKinds[static_cast<std::size_t>(operation.kind)],
                        kOperations[static_cast<std::size_t>(site.operation)],
                        kOrderNames[static_cast<std::size_t>(site.order)],
                        kScopeNames[static_cast<std::size_t>(site.scope)], site.element_bytes,
                        site.element_count, site.flag_store ? " flag" : "",
                        site.poll         ? " poll"
                        : site.speculated ? " speculated"
                                          : "",
                        site.proxy == wire::Proxy::kReadOnly  ? " nc"
                        : site.proxy == wire::Proxy::kAsync   ? " asyncproxy"
                        : site.proxy == wire::Proxy::kSurface ? " surface"
                                                              : "");
    text += site.asynchrony == wire::Asynchrony::kNone
                ? ""
                : fmt::format(" by{}{}", static_cast<int>(site.asynchrony),
                              site.reads_only ? ".read" : "");
    text += site.is_unscoped ? " unscoped" : "";
    if (site.flag_store || site.poll) {
      text += fmt::format(".{}", kScopeNames[static_cast<std::size_t>(site.idiom_scope)]);
    }
    if (operation.kind == RecordKind::kEvent) {
      text +=
          fmt::format(" operand {:x} count {}\n", operation.event_operand, operation.event_count);
      continue;
    }
    text += operation.lanes_agree ? " agree" : "";
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const auto& access = operation.lanes[lane];
      text += fmt::format(" [{}]{:x}", lane, access.address & 0xFFFFFFFFFFFFFF);
      if (operation.kind == RecordKind::kOperands) {
        text += fmt::format("(n{} {:x} {:x} f{})", access.amount, access.value_read,
                            access.value_written, access.flags);
      }
      if (operation.kind == RecordKind::kRelease || operation.kind == RecordKind::kAcquire) {
        text += fmt::format("({}->{} f{})", access.value_read, access.value_written, access.flags);
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace barracuda::oracle
