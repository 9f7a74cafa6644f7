// What each operation of a site is to an engine. Nothing follows from the order of wire::Operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "device_logger/site_info.h"

namespace barracuda::detector {

struct OperationTraits {
  bool accesses = false;        // memory, by the thread itself
  bool is_plain = false;        // a read or a write and no atomic
  bool has_operands = false;    // logged as kOperands
  bool has_box = false;         // logged as kTensorCopy
  bool has_order = false;       // logged as kRelease and kAcquire; else as kEvent
  bool orders_threads = false;  // what a thread did before it may be before what another does after
};

namespace operation_rows {

using wire::Operation;

struct Row {
  Operation operation{};
  OperationTraits traits;
};

inline constexpr OperationTraits kPlainAccess{.accesses = true, .is_plain = true};
inline constexpr OperationTraits kAtomicAccess{.accesses = true};
inline constexpr OperationTraits kOrder{.orders_threads = true};
inline constexpr OperationTraits kOperand{.has_operands = true};
inline constexpr OperationTraits kTensorBox{.has_box = true};
inline constexpr OperationTraits kOrderedByNumber{.has_order = true};
inline constexpr OperationTraits kOperandOrder{.has_operands = true, .orders_threads = true};

// NOLINTBEGIN(modernize-use-designated-initializers): a table
inline constexpr Row kRows[] = {
    {Operation::kRead, kPlainAccess},
    {Operation::kWrite, kPlainAccess},
    {Operation::kAtomic, kAtomicAccess},
    {Operation::kReduction, kAtomicAccess},
    {Operation::kFence, kOrder},
    {Operation::kBarrier, kOrder},
    {Operation::kBarrierArrive, kOrder},
    {Operation::kWarpBarrier, kOrder},
    {Operation::kCall, {}},
    {Operation::kReturn, {}},
    {Operation::kExit, {}},
    {Operation::kClusterArrive, kOrder},
    {Operation::kClusterWait, kOrder},
    {Operation::kLaunchDependents, {}},
    {Operation::kGridWait, kOrder},
    {Operation::kProxyFence, kOrder},
    {Operation::kMbarrierInit, kOperand},
    {Operation::kMbarrierInvalidate, kOperand},
    {Operation::kMbarrierArrive, kOperandOrder},
    {Operation::kMbarrierExpect, kOperandOrder},
    {Operation::kMbarrierComplete, kOperandOrder},
    {Operation::kMbarrierWait, kOperandOrder},
    {Operation::kAsyncArrive, kOperandOrder},
    {Operation::kAsyncCommit, kOrder},
    {Operation::kAsyncWait, kOrder},
    {Operation::kCopy, kOperand},
    {Operation::kTensorCopy, kTensorBox},
    {Operation::kBranch, {}},
    {Operation::kSwitch, {}},
    {Operation::kMeet, {}},
    {Operation::kMatrixProduct, kOperand},
    {Operation::kHeap, kOrderedByNumber},
    {Operation::kSharedPlace, {}},
};
// NOLINTEND(modernize-use-designated-initializers)

}  // namespace operation_rows

inline constexpr std::array<OperationTraits, wire::kOperationCount> kOperationTraits = [] {
  std::array<OperationTraits, wire::kOperationCount> table{};
  for (const operation_rows::Row& row : operation_rows::kRows) {
    table[static_cast<std::size_t>(row.operation)] = row.traits;
  }
  return table;
}();

static_assert(
    [] {
      std::uint64_t seen = 0;
      for (const operation_rows::Row& row : operation_rows::kRows) {
        seen |= std::uint64_t{1} << static_cast<unsigned>(row.operation);
      }
      return seen == (std::uint64_t{1} << wire::kOperationCount) - 1 &&
             std::size(operation_rows::kRows) == wire::kOperationCount;
    }(),
    "each operation has one row");

constexpr const OperationTraits& traits_of(wire::Operation operation) {
  return kOperationTraits[static_cast<std::size_t>(operation)];
}

}  // namespace barracuda::detector
