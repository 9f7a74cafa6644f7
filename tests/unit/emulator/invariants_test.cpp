// State of the emulator that is broken on purpose is found out by an assertion.
#include <catch2/catch.hpp>

#include "emulator/decode/frame_layout.h"
#include "emulator/decode/register_uses.h"
#include "emulator/execute/matrix.h"
#include "emulator/state/cluster.h"
#include "emulator/state/frame_pool.h"
#include "emulator/state/mbarrier.h"
#include "tests/unit/failed_assertion.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using barracuda::test::failed_assertion;
using Catch::Contains;

TEST_CASE("a frame of no function waits for nobody") {
  FrameStore store;
  CHECK_THAT(failed_assertion([&] { store.give(nullptr); }), Contains("frame_pool.cpp"));
  Frame frame;
  CHECK_THAT(failed_assertion([&] { store.give(&frame); }), Contains("frame_pool.cpp"));
}

TEST_CASE("an mbarrier starts with a count that its word can hold") {
  std::uint64_t word = 0;
  CHECK_THAT(failed_assertion([&] { initialise_mbarrier(&word, kMaximumMbarrierCount + 1); }),
             Contains("mbarrier.cpp"));
  CHECK(failed_assertion([&] { initialise_mbarrier(&word, kMaximumMbarrierCount); }).empty());
  CHECK(Mbarrier::unpack(word).pending == kMaximumMbarrierCount);
}

TEST_CASE("a CTA that is in no cluster, or has a rank that its cluster has not, arrives nowhere") {
  Warp warp;
  Cta cta;
  CHECK_THAT(failed_assertion([&] { arrive_at_cluster(warp, cta, 1); }), Contains("cluster.cpp"));
  Cluster cluster;
  cta.cluster = &cluster;
  CHECK_THAT(failed_assertion([&] { arrive_at_cluster(warp, cta, 1); }), Contains("cluster.cpp"));
}

TEST_CASE("what decoding says of registers is of registers that there are") {
  RegisterUses uses;
  CHECK_THAT(failed_assertion([&] { uses.read(uses.add(RegisterClass::kWord) + 1); }),
             Contains("register_uses.h"));
  CHECK_THAT(failed_assertion([&] { (void)lay_out_frame({RegisterClass::kWord}, {}, 1); }),
             Contains("frame_layout.cpp"));
}

TEST_CASE("a fragment of a shape that no matrix product has is not valid") {
  const std::vector<Slot> one = {0};
  CHECK(mma_fragment(MatrixRole::kA, MatrixElement::kF64, {8, 4}, one).is_valid());
  CHECK_FALSE(mma_fragment(MatrixRole::kA, MatrixElement::kF16, {8, 4}, one).is_valid());
  CHECK_THAT(failed_assertion([&] { (void)wmma_fragment(MatrixElement::kF16, {8, 1}, one); }),
             Contains("matrix_fragment.cpp"));
}

TEST_CASE("a warp whose lanes are in two places, or in none, is not valid") {
  Function function;
  function.code.resize(4);
  Frame frame{.function = &function, .lanes = 0xF};
  Warp warp;
  warp.live = 0xF;
  warp.fragments = {Fragment{.mask = 0x3, .frame = &frame}, Fragment{.mask = 0xC, .frame = &frame}};
  CHECK(warp.is_valid());
  warp.fragments[1].mask = 0xE;
  CHECK_FALSE(warp.is_valid());
  warp.fragments[1].mask = 0x8;
  CHECK_FALSE(warp.is_valid());
  warp.fragments[1].mask = 0xC;
  frame.lanes = 0x7;  // one of them has returned from it
  CHECK_FALSE(warp.is_valid());
}
