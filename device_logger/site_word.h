// The first argument of every hook: a SiteId with, above its 24 bits, what else the logger has to
// know of the site. Logger and rewriter share it. It is the same for all lanes of a site.
#pragma once

#include <cstdint>

#include "device_logger/site_info.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kSizeShift = 24;  // log2 of the access's bytes, 3 bits
inline constexpr std::uint32_t kSizeBits = 3;
inline constexpr std::uint32_t kConstantValue = 1U << 27;   // all lanes store one constant
inline constexpr std::uint32_t kGenericTarget = 1U << 28;   // of __barracuda_operands: this operand
inline constexpr std::uint32_t kGenericSecond = 1U << 29;   // is a generic address, not a tagged
inline constexpr std::uint32_t kGenericThird = 1U << 30;    // one or a number
inline constexpr std::uint32_t kAfterOperation = 1U << 31;  // logged once the operation is over
// Of the hooks of plain accesses, which have one address and say by their names whether it is
// generic: what is left out where memory is not written (unlogged_memory.h), and what writes it.
inline constexpr std::uint32_t kPlainRead = kGenericSecond;
inline constexpr std::uint32_t kPlainWrite = kGenericThird;
// Of those that keep states (shared_states.h): neither a plain read nor a plain store, nor, with
// both bits above, an atomic whose result nobody reads.
inline constexpr std::uint32_t kAlwaysLogged = kAfterOperation;
// And, of those, a load and a store that are not weak and have states all the same.
inline constexpr std::uint32_t kLoadsStrongly = 0,
                               kStoresStrongly = kPlainRead | kPlainWrite | kAlwaysLogged;
// Of hooks of plain stores: what the lanes store is known, even if each stores something else
// (SiteInfo::is_replicated).
inline constexpr std::uint32_t kKnownValues = kGenericTarget;
// Of __barracuda_event, in kernels that keep states. The lanes leave, and the detail is their
// interval; and: each warp of a block does this in turn, so that one record may stand for all
// (block_events.h); and: all threads of a block do so before any of them does the next such thing,
// so that one of them may log it.
inline constexpr std::uint32_t kLeavesKernel = kAfterOperation;
inline constexpr std::uint32_t kOfWholeBlock = kGenericTarget;
inline constexpr std::uint32_t kCounted = kGenericSecond;

static_assert(kMaxSites == 1U << kSizeShift, "the size lies above the site's id");
static_assert((kMaxSites - 1) + (((1U << kSizeBits) - 1) << kSizeShift) + kConstantValue +
                      kGenericTarget + kGenericSecond + kGenericThird + kAfterOperation ==
                  ~0U,
              "every bit of the word has one meaning, by its hook");

}  // namespace barracuda::wire
