// mbarrier operations on shared memory. Macros, so that a finding names the line of the program.
#pragma once

#define SHARED_ADDRESS(pointer) static_cast<unsigned>(__cvta_generic_to_shared(pointer))

using MBarrier = unsigned long long;

#define MBARRIER_INIT(bar, count)                                                               \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED_ADDRESS(bar)), "r"(count) \
               : "memory")
#define MBARRIER_ARRIVE(bar)                                                              \
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"( \
                   SHARED_ADDRESS(bar))                                                   \
               : "memory")
#define MBARRIER_ARRIVE_RELAXED(bar)                                                         \
  asm volatile(                                                                              \
      "{ .reg .b64 state; mbarrier.arrive.relaxed.cta.shared::cta.b64 state, [%0]; }" ::"r"( \
          SHARED_ADDRESS(bar))                                                               \
      : "memory")
#define MBARRIER_ARRIVE_EXPECT(bar, bytes)                                                     \
  asm volatile(                                                                                \
      "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"( \
          SHARED_ADDRESS(bar)),                                                                \
      "r"(bytes)                                                                               \
      : "memory")
// At the same mbarrier of another block of the cluster.
#define MBARRIER_ARRIVE_AT(name, bar, rank)                                         \
  asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; " name \
               ".shared::cluster.b64 _, [remote]; }" ::"r"(SHARED_ADDRESS(bar)),    \
               "r"(rank)                                                            \
               : "memory")
#define MBARRIER_ARRIVE_REMOTE(bar, rank) MBARRIER_ARRIVE_AT("mbarrier.arrive", bar, rank)
#define MBARRIER_ARRIVE_REMOTE_CTA(bar, rank) \
  MBARRIER_ARRIVE_AT("mbarrier.arrive.release.cta", bar, rank)
// done: whether the phase of this parity is complete.
#define MBARRIER_TEST(bar, parity, done)                                                           \
  asm volatile(                                                                                    \
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, " \
      "p; }"                                                                                       \
      : "=r"(done)                                                                                 \
      : "r"(SHARED_ADDRESS(bar)), "r"(parity)                                                      \
      : "memory")
#define MBARRIER_TRY(bar, parity, done)                                                           \
  asm volatile(                                                                                   \
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, " \
      "p; }"                                                                                      \
      : "=r"(done)                                                                                \
      : "r"(SHARED_ADDRESS(bar)), "r"(parity)                                                     \
      : "memory")
#define MBARRIER_WAIT(bar, parity)      \
  for (unsigned done = 0; done == 0;) { \
    MBARRIER_TEST(bar, parity, done);   \
  }
#define MBARRIER_WAIT_CTA(bar, parity)                                                       \
  for (unsigned done = 0; done == 0;) {                                                      \
    asm volatile(                                                                            \
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; " \
        "selp.u32 %0, 1, 0, p; }"                                                            \
        : "=r"(done)                                                                         \
        : "r"(SHARED_ADDRESS(bar)), "r"(parity)                                              \
        : "memory");                                                                         \
  }
