#include "weak_memory/memory_model/execution.h"

#include <bit>
#include <cstddef>

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;

bool have_same_address(const Event& a, const Event& b, PtxVersion version) {
  return a.accesses() && b.accesses() && a.location == b.location &&
         (version == PtxVersion::k60 || a.instruction->generic == b.instruction->generic);
}

// Fences and barriers are of the generic proxy, but for the fences of another.
bool have_same_proxy(const Event& a, const Event& b, PtxVersion version) {
  return version == PtxVersion::k60 || a.instruction->proxy == b.instruction->proxy;
}

// PTX ISA, "Morally strong operations".
bool are_morally_strong(const Program& program, const Event& a, const Event& b,
                        PtxVersion version) {
  if (!have_same_proxy(a, b, version) ||
      (a.accesses() && b.accesses() && !have_same_address(a, b, version))) {
    return false;
  }
  if (a.thread == b.thread) {
    return true;
  }
  const Thread& of_a = program.threads[a.thread];
  const Thread& of_b = program.threads[b.thread];
  return a.is_strong() && b.is_strong() && of_a.includes(a.instruction->scope, of_b) &&
         of_b.includes(b.instruction->scope, of_a);
}

bool synchronise(const Program& program, const Event& a, const Event& b) {
  return a.kind == Kind::kBarrier && b.kind == Kind::kBarrier && a.instance == b.instance &&
         a.instruction->number.has_value() == b.instruction->number.has_value() &&
         a.value == b.value && a.is_awaited && b.instruction->waits && a.thread != b.thread &&
         program.threads[a.thread].includes(Scope::kCta, program.threads[b.thread]);
}

}  // namespace

Skeleton::Skeleton(const Program& program, const std::vector<Event>& events, PtxVersion version) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& a = events[i];
    for (std::size_t j = 0; j < events.size(); ++j) {
      const Event& b = events[j];
      if (i == j || a.instruction == nullptr || b.instruction == nullptr) {
        continue;
      }
      if (are_morally_strong(program, a, b, version)) {
        morally_strong.add(i, j);
      }
      if (synchronise(program, a, b)) {
        barrier.add(i, j);
      }
      if (a.thread != b.thread || i > j) {
        continue;
      }
      po.add(i, j);
      const bool is_same = have_same_address(a, b, version);
      if (is_same && have_same_proxy(a, b, version)) {
        po_same_location.add(i, j);
      }
      if (a.kind == Kind::kRead && b.kind == Kind::kWrite && a.instruction == b.instruction &&
          j == i + 1) {
        rmw.add(i, j);
      }
      if (b.kind == Kind::kWrite && b.is_strong() &&
          (a.is_releasing_fence() || (a.releases() && is_same))) {
        release_pattern.add(i, j);
      }
      if (a.kind == Kind::kRead && a.is_strong() &&
          (b.is_acquiring_fence() || (b.acquires() && is_same))) {
        acquire_pattern.add(i, j);
      }
    }
    for (std::uint64_t rest = a.dependencies; rest != 0; rest &= rest - 1) {
      dependency.add(static_cast<std::size_t>(std::countr_zero(rest)), i);
    }
    if (a.releases()) {
      release_pattern.add(i, i);
    }
    if (a.acquires()) {
      acquire_pattern.add(i, i);
    }
  }
}

}  // namespace barracuda::memory_model
