// Asynchronous copies: cp.async, and the bulk copies of sm_90 with their fence. Macros, so that a
// finding names the line of the program.
#pragma once

#include "mbarrier.h"

#define CP_ASYNC(to, from)                                                           \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED_ADDRESS(to)), \
               "l"(__cvta_generic_to_global(from))                                   \
               : "memory")
#define CP_ASYNC_16(to, from)                                                         \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED_ADDRESS(to)), \
               "l"(__cvta_generic_to_global(from))                                    \
               : "memory")
#define CP_ASYNC_WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")
#define CP_ASYNC_ARRIVE(bar)                                                                     \
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(SHARED_ADDRESS(bar)) \
               : "memory")

#define BULK_LOAD(to, from, bytes, bar)                                                            \
  asm volatile(                                                                                    \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
          "r"(SHARED_ADDRESS(to)),                                                                 \
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(SHARED_ADDRESS(bar))                    \
      : "memory")
#define BULK_STORE(to, from, bytes)                                                 \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"( \
                   __cvta_generic_to_global(to)),                                   \
               "r"(SHARED_ADDRESS(from)), "r"(bytes)                                \
               : "memory")
// Of each 16 bytes those that the mask names (sm_100).
#define BULK_STORE_MASKED(to, from, bytes, mask)                                                \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"( \
                   __cvta_generic_to_global(to)),                                               \
               "r"(SHARED_ADDRESS(from)), "r"(bytes), "h"(static_cast<unsigned short>(mask))    \
               : "memory")
// Zeros (sm_100).
#define BULK_ZERO(to, bytes)                                                      \
  asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(SHARED_ADDRESS(to)), \
               "l"(static_cast<unsigned long long>(bytes))                        \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define BULK_WAIT_READ() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define FENCE_PROXY_ASYNC() asm volatile("fence.proxy.async;" ::: "memory")

// To global memory, without an mbarrier (sm_100): each releases what its thread did before.
#define ASYNC_STORE(to, value)                                                                  \
  asm volatile("st.async.release.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), \
               "r"(value)                                                                       \
               : "memory")
#define ASYNC_ADD(to, value)                                                                \
  asm volatile(                                                                             \
      "red.async.release.gpu.global.add.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), \
      "r"(value)                                                                            \
      : "memory")
#define LOAD_ACQUIRE(value, from)                    \
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" \
               : "=r"(value)                         \
               : "l"(__cvta_generic_to_global(from)) \
               : "memory")

// Asks for the work of a block that has not begun (sm_100): 16 bytes of answer, which tell whether
// there was one.
#define TRY_CANCEL(to, bar)                                                                  \
  asm volatile(                                                                              \
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 " \
      "[%0], [%1];" ::"r"(SHARED_ADDRESS(to)),                                               \
      "r"(SHARED_ADDRESS(bar))                                                               \
      : "memory")
#define IS_CANCELED(from, canceled)                                                                \
  asm volatile(                                                                                    \
      "{ .reg .pred p; .reg .b128 answer; ld.shared::cta.b128 answer, [%1]; "                      \
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer; selp.u32 %0, 1, 0, p; }" \
      : "=r"(canceled)                                                                             \
      : "r"(SHARED_ADDRESS(from))                                                                  \
      : "memory")
