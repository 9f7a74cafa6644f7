// What the instrumentation passes share: the linked module with what is known of its statements and
// functions, and the sites found so far. Passes run in the order of ptx/instrument.cpp; statements
// are neither inserted nor erased before insert_hooks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "device_logger/symbols.h"
#include "ptx/analysis/function_flows.h"
#include "ptx/analysis/heap_call.h"
#include "ptx/instrument.h"
#include "ptx/module.h"
#include "ptx/opcode.h"
#include "ptx/site_table.h"

namespace barracuda::ptx {

// A variable of shared memory that is known to lie at one place; what is dynamic has no size.
struct PlacedVariable {
  std::string_view name;
  std::uint64_t offset = 0, bytes = 0;
};

struct FunctionFacts {
  std::vector<std::uint32_t> callees;     // indices of defined functions, called by name
  std::vector<std::uint32_t> reachable;   // itself and all that it may call
  std::vector<std::string_view> symbols;  // names of module scope that its code mentions
  bool calls_indirectly = false;
  bool is_address_taken = false;
  bool has_fence = false;        // or an acquire or a release
  bool spins = false;            // it waits in a loop for another thread's store
  bool spins_on_shared = false;  // one that may be to shared memory
  bool synchronises = false;  // it has one, or an atomic whose result it reads, or waits in a loop
                              // for another thread's store
  bool may_log = false;       // it or a callee has an instruction that is logged
  bool is_numbered = false;   // RACE_RULES section 4: a kernel that reaches it synchronises
  bool is_instrumented = true;
  bool is_empty = false;                // nothing but returns
  bool stores_null_descriptor = false;  // an entry without the parameter that calls what logs
  // Its only effect is one fence: nvcc -G makes such functions of __threadfence and its kin.
  std::optional<wire::Scope> fence_wrapper;
  // Of an entry, on the emulated device: what its own code names (shared_layout.h).
  std::vector<PlacedVariable> placed_shared;
};

// How a site is logged.
enum class HookKind : std::uint8_t {
  kNone,     // an earlier site of its block stands for it
  kAccess,   // one record, before
  kRelease,  // strong write: before and after
  kAcquire,  // strong read: after
  kAtomic,   // both
  kEvent,    // before
  kCall,     // before the call sequence
  kReturn,   // after the call sequence
  kEventAfter,
  kBranch,      // before, by lanes that do not all go the same way
  kSwitch,      // before
  kMeet,        // before, by lanes that went apart
  kOperands,    // before
  kTensorCopy,  // before
  kWait,        // after, by the lanes whose wait for an mbarrier is over
  kHeap,        // free: before the call sequence; malloc: after it
  kTexels,      // before: of textures and surfaces, on the emulated device
};

// The bytes of a word that an access of it is of (sub_word.h).
struct SubWord {
  std::size_t aligned_at = 0;  // the statement that makes the word's address of theirs
  std::uint32_t word = 0;      // bytes of the word; 0: an access of what it says
  std::uint32_t bytes = 0;
};

// Of loads that one hook logs, one after the other (ptx/passes/load_batches.cpp).
enum class InBatch : std::uint8_t {
  kNone,
  kBeforeLast,  // logged by the hook of the last
  kLast,        // its hook logs those before it, and itself
};

struct PlannedSite {
  std::size_t statement = 0;
  std::uint32_t function = 0;  // index into Module::functions
  HookKind hook = HookKind::kNone;
  Effect effect;
  wire::SiteInfo info;
  bool stores_constants = false;     // all lanes store the same compile-time constants
  bool in_lockstep = false;          // kCall, kReturn: the lanes that call together return together
  std::uint32_t update = 0;          // as in ptx::Site
  bool is_divergent = false;         // and this
  bool is_skipped = false;           // and this
  std::vector<std::uint32_t> loops;  // and these
  bool counts_intervals = false;  // of a kernel of barrier_intervals: its hook knows the interval
  // So are barriers of the whole warp: wire::kCountsWarps, with kCountsMany or not. 0: they are
  // not.
  std::uint32_t counts_warps = 0;
  bool keeps_copies = false;     // of a cp.async whose writes have states (copy_states.h)
  bool is_of_warp = false;       // one of those: a bar.warp.sync of all lanes
  bool has_state = false;        // a load or store of shared memory that is not weak
  bool publishes_later = false;  // there: others may learn of it (barrier_intervals.cpp says who)
  bool logs_states = false;      // a strong access there, maybe to shared memory
  bool may_be_quiet = false;     // an event that is logged no more once the host says so
  bool may_be_left_out = false;  // an atomic that orders nothing: its hooks ask first
  std::optional<std::uint32_t> shortcut;  // of its kernel, that it takes
  bool may_be_counted = false;  // an event, if all threads of a block come to each barrier together
  bool is_counted = false;    // an event that all threads of a block make, before any makes another
  bool leaves_early = false;  // an exit: who has passed no barrier has nothing in a state either
  bool in_read_only_interval = false;  // a load that races with nothing while no thread has left
  InBatch in_batch = InBatch::kNone;
  std::uint32_t offset = 0;   // of the bytes that are meant, from the operand's address
  std::size_t logged_at = 0;  // a statement behind it in its block; 0: the statement itself
  // The branch with which a loop that waits begins again, where it is logged once that is over; 0:
  // in no such loop.
  std::size_t logged_behind = 0;
  bool looks_first = false;  // a compare-and-swap that its loop makes until it succeeds
  // Puts into %__barracuda_u whether the lane makes anything of what it reads; empty: all lanes do.
  std::string use_condition;
  SubWord sub_word;
  HeapCall heap;      // of kHeap
  wire::SiteId id{};  // of those with a hook
};

using HookNames = std::set<std::string, std::less<>>;

struct Program {
  Module module;
  InstrumentOptions options;
  std::vector<Effect> effects;           // by statement; kUnknown where it is no instruction
  std::vector<FunctionFacts> functions;  // by index into Module::functions
  std::vector<PlannedSite> sites;        // in the order of the text
  std::vector<Kernel> kernels;
  SiteTable site_table;
  std::vector<NotCovered> not_covered;
  std::vector<RegisterHazard> register_hazards;
  HookNames called_hooks;  // by the code that was inserted
  FunctionFlows flows;     // before that
  // Of the shared word for the launch descriptor, and its size.
  std::uint32_t descriptor_alignment = wire::kBlockWordsBytes;
  std::uint32_t instructions = 0;
  std::uint32_t logged_instructions = 0;

  [[nodiscard]] const Function& function(std::uint32_t index) const {
    return module.functions[index];
  }

  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;

  // As in FunctionFlows.
  Expected<const ControlFlow*> flow_of(std::uint32_t index) { return flows.flow_of(module, index); }

  const std::vector<Uniformity>& uniform_blocks_of(std::uint32_t index) {
    return flows.uniform_blocks_of(module, index);
  }
};

// Those of one function after the other, as they stand in Program::sites; none is empty.
std::vector<std::span<PlannedSite>> by_function(std::vector<PlannedSite>& sites);

// Calls visit(sites) for those of each function, until one fails.
template <typename Visit>
Expected<void> visit_functions(Program& program, const Visit& visit) {
  for (const std::span<PlannedSite> sites : by_function(program.sites)) {
    if (auto visited = visit(sites); !visited) {
      return visited;
    }
  }
  return {};
}

// Whether a statement, or any of a module's, declares a variable that `is_meant`.
template <typename Predicate>
bool declares(const Statement& statement, Predicate is_meant) {
  return std::ranges::any_of(statement.variables, is_meant);
}

template <typename Predicate>
bool declares(const Module& module, Predicate is_meant) {
  return std::ranges::any_of(
      module.statements, [&](const Statement& statement) { return declares(statement, is_meant); });
}

// Whether the module declares any; else no generic address leads there.
bool has_shared_memory(const Module& module);

// Whether the function, or one that it may call, mentions this name of module scope.
bool reaches(const Program& program, const FunctionFacts& function, std::string_view name);

// Whether no other function's instructions are logged in a launch of this kernel, as far as its
// calls tell: one by an address may be of any.
bool calls_nothing_that_logs(const Program& program, std::uint32_t entry);

// The id of the next row of the site table.
Expected<wire::SiteId> next_site(const Program& program);

// That row.
Site& site_named(Program& program, wire::SiteId id);

// Null if it is not instrumented.
Kernel* kernel_of(Program& program, const Function& entry);

// Loads, stores, atomics and reductions of memory that other threads may see.
bool is_shared_access(const Effect& effect);

// Whether an instruction may read or write memory that other threads see, whatever it is and
// whether or not it is logged.
bool may_touch_shared(const Effect& effect);

// The scope of a fence, or of a call of a function that is nothing but one.
std::optional<wire::Scope> fence_at(const Program& program, std::size_t statement);

// A texture or surface access that is logged: on the emulated device, where it is known what texels
// an object has.
bool is_logged_texture(const Program& program, std::size_t statement);

// Matrix loads and stores of memory that other threads may see.
bool is_matrix_access(const Effect& effect);

// Logged as an event of the thread: fences, barriers, and where it leaves the kernel.
bool is_event(const Effect& effect, bool in_entry);

// Logged by plan_asynchronous.
bool is_asynchronous(const Effect& effect);

// The address of an access: an Operand::kAddress or, in array form, a kSymbol; null if there is
// none.
const Operand* address_of(const Statement& statement, const Effect& effect);

// The callee of a call: a function's name or a register; null if the call has none.
const Operand* callee_of(const Instruction& call);
// The function that the call names; null if it calls by an address, or what the module has not.
const Function* called_function(const Module& module, const Instruction& call);

// The modifiers of an instruction as written, behind its opcode: "st.global.u32".
std::string name_of(const Instruction& instruction);

}  // namespace barracuda::ptx
