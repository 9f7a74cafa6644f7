// Which instructions know that memory is weak: those that access it or order accesses. What belongs
// to the tool itself (names that begin with __barracuda_) is neither delayed nor counted, and
// orders nothing.
#include <algorithm>

#include "device_logger/memory_order.h"
#include "emulator/decode/decoders.h"
#include "emulator/decode/weak_effect.h"
#include "emulator/execute/asynchronous.h"
#include "emulator/execute/control.h"
#include "emulator/execute/native.h"
#include "emulator/execute/weak_matrix.h"
#include "emulator/execute/weak_memory.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/weak_site.h"
#include "ptx/opcode.h"
#include "ptx/type_family.h"

namespace barracuda::emulator {

using ptx::Effect;
using ptx::OpcodeClass;
using wire::MemoryOrder;

namespace {

bool names_tool(const ptx::Operand& operand) {
  return operand.name.starts_with(kToolPrefix) || std::ranges::any_of(operand.elements, names_tool);
}

bool is_taken(const Weakness& weakness, const CodePlace& place) {
  return weakness.places.empty() ||
         std::ranges::any_of(weakness.places, [&](const CodePlace& taken) {
           return taken.line == place.line &&
                  (taken.file == place.file || place.file.ends_with('/' + taken.file));
         });
}

bool is_shared_or_global(const Instruction& emitted) {
  const auto place = static_cast<Place>(emitted.flags);
  return place == Place::kShared || place == Place::kGlobal || place == Place::kGeneric;
}

// ld and st.
bool choose_access(const ptx::Instruction& instruction, const Effect& effect, Instruction& emitted,
                   WeakSite& site) {
  if (emitted.handler == &execute_remote_store || !is_shared_or_global(emitted)) {
    return false;
  }
  site.is_write = effect.opcode_class == OpcodeClass::kStore;
  site.element_bytes = std::min(ptx::size_of(effect.type), 8U);
  site.is_signed = ptx::is_signed(effect.type) && site.element_bytes < 4;
  site.drains = site.is_write && wire::has_release(effect.order);
  site.resets = !site.is_write && wire::has_acquire(effect.order);
  if (is_special(instruction, effect) || effect.space == ptx::StateSpace::kConst) {
    site.element_bytes *= emitted.count;
    emitted.handler = &execute_weak_atomic;
  } else {
    emitted.handler = site.is_write ? &execute_weak_store : &execute_weak_load;
  }
  return true;
}

// What acts on memory itself.
bool choose_atomic(const Effect& effect, Instruction& emitted, WeakSite& site) {
  site.is_write = true;
  site.element_bytes = effect.opcode_class == OpcodeClass::kMbarrier
                           ? 8
                           : ptx::size_of(effect.type) * effect.elements;
  if (effect.opcode_class == OpcodeClass::kMbarrier && effect.is_unscoped &&
      effect.shared_cluster) {
    site.scope = wire::Scope::kCluster;  // mbarrier-scope.md
  }
  site.drains = wire::has_release(effect.order);
  site.resets = wire::has_acquire(effect.order);
  if (emitted.handler == &execute_remote_store || emitted.handler == &execute_pending_count) {
    return false;
  }
  emitted.handler = &execute_weak_atomic;
  return true;
}

// Fences and barriers. Those of a CTA and of a cluster reset windows when they open.
bool choose_order(const Effect& effect, Instruction& emitted, WeakSite& site) {
  const bool is_cluster = effect.opcode_class == OpcodeClass::kClusterBarrier;
  const bool has_order = is_cluster || effect.opcode_class == OpcodeClass::kFence;
  const bool is_cta = effect.opcode_class == OpcodeClass::kBarrier ||
                      effect.opcode_class == OpcodeClass::kBarrierArrive;
  site.end = is_cta || is_cluster ? WeakEnd::kBarrier : WeakEnd::kRelease;
  site.is_fence = effect.opcode_class == OpcodeClass::kFence;
  site.scope = is_cta       ? wire::Scope::kCta
               : is_cluster ? wire::Scope::kCluster
               : has_order  ? effect.scope
                            : wire::Scope::kSys;
  site.drains = !has_order || wire::has_release(effect.order);
  site.resets = has_order ? wire::has_acquire(effect.order) : !is_cta;
  emitted.handler = &execute_weak_order;
  return true;
}

// False: it neither accesses memory nor orders accesses, or does so where the tool's weak memory
// is asked at run time.
bool choose_handler(const ptx::Instruction& instruction, Instruction& emitted, WeakSite& site) {
  const Effect effect = ptx::classify(instruction);
  site.scope = effect.scope;
  site.is_strong = effect.order != MemoryOrder::kWeak;
  switch (effect.opcode_class) {
    case OpcodeClass::kLoad:
    case OpcodeClass::kStore:
      return choose_access(instruction, effect, emitted, site);
    case OpcodeClass::kAtomic:
    case OpcodeClass::kReduction:
    case OpcodeClass::kMbarrier:
      return choose_atomic(effect, emitted, site);
    case OpcodeClass::kFence:
    case OpcodeClass::kProxyFence:
    case OpcodeClass::kGridDependency:
    case OpcodeClass::kBarrier:
    case OpcodeClass::kBarrierArrive:
    case OpcodeClass::kClusterBarrier:
      return choose_order(effect, emitted, site);
    case OpcodeClass::kWarpBarrier:
      return true;
    case OpcodeClass::kMatrixAccess:
      site.is_write = effect.operation == wire::Operation::kWrite;
      emitted.handler = &execute_weak_matrix;
      return true;
    case OpcodeClass::kCall:
      if (emitted.handler == &execute_call || emitted.handler == &execute_native) {
        return false;
      }
      emitted.handler = &execute_weak_builtin;
      return true;
    case OpcodeClass::kArithmetic:
    case OpcodeClass::kAsyncCopy:
    case OpcodeClass::kWarpCollective:
    case OpcodeClass::kBranch:
    case OpcodeClass::kReturn:
    case OpcodeClass::kExit:
    case OpcodeClass::kTrap:
    case OpcodeClass::kNoEffect:
    case OpcodeClass::kTexture:
    case OpcodeClass::kUnknown:
      return false;
  }
  return false;
}

}  // namespace

void make_weak(CodeEmitter& code, PostponedLoads& postponed, const ptx::Instruction& instruction) {
  Function& function = code.function();
  const LoadedModule& module = code.builder().module();
  const bool is_tool = function.is_tool || std::ranges::any_of(instruction.operands, names_tool);
  Instruction& emitted = function.code.back();
  if (is_tool || emitted.handler == &execute_unsupported) {
    return;
  }
  auto site = std::make_shared<WeakSite>();
  site->plain = emitted.handler;
  site->place = &module.place_of(code.statement());
  site->is_selected = is_taken(*module.weakness(), *site->place);
  if (choose_handler(instruction, emitted, *site)) {
    emitted.weak = site.get();
    if (emitted.handler == &execute_weak_load && !site->resets) {
      postponed.split(instruction, *site);
    }
    function.owned.push_back(std::move(site));
  }
}

}  // namespace barracuda::emulator
