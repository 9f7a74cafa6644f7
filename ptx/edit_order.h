// Edits of what orders memory in a parsed module: fences put in, taken out or changed, and the
// order and scope of accesses. Whoever looks for the smallest repair of a program, or for the
// fences that it does not need, says so as a list of edits. All of a list are made at once: each
// names a statement of the module as it was parsed (statement_name.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device_logger/site_info.h"
#include "ptx/fence.h"
#include "ptx/module.h"
#include "ptx/statement_name.h"

namespace barracuda::ptx {

// Without a predicate, so that the lanes for which the statement did nothing pass a fence too. A
// place among a call's parameters or results moves out of them.
struct InsertFence {
  Fence fence;
  bool is_before = false;  // the statement; else after it

  friend bool operator==(const InsertFence&, const InsertFence&) = default;
};

// What else orders: a barrier or a wait, in its plainest form. Without a predicate, too.
enum class SyncKind : std::uint8_t {
  kWarpBarrier,     // of all lanes: __syncwarp()
  kBlockBarrier,    // __syncthreads()
  kClusterBarrier,  // arrive and wait
  kAsyncProxy,      // fence.proxy.async
  kCopies,          // cp.async.wait_all
  kEarlierGrid,     // griddepcontrol.wait
};

struct InsertSync {
  SyncKind kind = SyncKind::kWarpBarrier;
  bool is_before = false;  // the statement; else after it

  friend bool operator==(const InsertSync&, const InsertSync&) = default;
};

// A fence or membar; not one for a proxy or for mbarrier initialisations.
struct RemoveFence {
  friend bool operator==(const RemoveFence&, const RemoveFence&) = default;
};

struct ReplaceFence {
  Fence fence;

  friend bool operator==(const ReplaceFence&, const ReplaceFence&) = default;
};

// Of a fence, or of an access that is not weak.
struct ChangeScope {
  wire::Scope scope = wire::Scope::kGpu;

  friend bool operator==(const ChangeScope&, const ChangeScope&) = default;
};

// Of a load, store, atomic or reduction. What only weak accesses may have, a cache operator or .nc,
// goes, and .nc of weak ones too. The scope says nothing where the order is kWeak or kVolatile.
struct ChangeOrder {
  wire::MemoryOrder order = wire::MemoryOrder::kRelaxed;
  wire::Scope scope = wire::Scope::kGpu;

  friend bool operator==(const ChangeOrder&, const ChangeOrder&) = default;
};

using OrderChange =
    std::variant<InsertFence, RemoveFence, ReplaceFence, ChangeScope, ChangeOrder, InsertSync>;

struct OrderEdit {
  StatementName at;
  OrderChange change;

  friend bool operator==(const OrderEdit&, const OrderEdit&) = default;
};

struct EditOutcome {
  enum class Fit : std::uint8_t {
    kApplied,
    kNoFunction,  // of that name: another module of the program may have it
    kNoStatement,
    kNotPossible,  // there
  };
  Fit fit = Fit::kApplied;
  std::string reason;  // a part of a sentence: "its function is not in the program"; else empty

  friend bool operator==(const EditOutcome&, const EditOutcome&) = default;
};

// One outcome for each edit, in their order. Those that do not fit change nothing.
std::vector<EditOutcome> apply_edits(Module& module, std::span<const OrderEdit> edits);

// What is put in for it, statements of PTX with a semicolon behind each.
std::string_view text_of(SyncKind kind);

// "cta", "cluster", "gpu", "sys"; "sc", "acq_rel", "weak", "volatile", "relaxed", "acquire",
// "release".
std::string_view word_of(wire::Scope scope);
std::string_view word_of(wire::MemoryOrder order);

}  // namespace barracuda::ptx
