#include "ptx/fence_places.h"

#include <algorithm>
#include <iterator>

#include <catch2/catch.hpp>

#include "ptx/print.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";
constexpr const char* kFiles = ".file 1 \"/home/u/a.cu\"\n.file 2 \"/cuda/include/b.h\"\n";

bool is_user_file(std::string_view file) {
  return file.find("/cuda/include/") == file.npos;
}

std::vector<FencePlace> places_in(const std::string& text) {
  Module module = parse_module(text);
  const std::string before = print(module);
  auto places = find_fence_places(module, is_user_file);
  REQUIRE(places);
  CHECK(print(module) == before);
  CHECK(module.is_valid());
  return std::move(*places);
}

std::vector<FencePlace> places_of(const std::string& body) {
  return places_in(
      kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + " ret;") +
      kFiles);
}

std::vector<std::uint32_t> numbers(const std::vector<FencePlace>& places) {
  std::vector<std::uint32_t> found;
  std::ranges::transform(places, std::back_inserter(found), &FencePlace::place);
  return found;
}

}  // namespace

TEST_CASE("each access of memory that others see is listed, and nothing else") {
  const auto places = places_of(
      "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.shared.u32 [%r1], %r2;\n"
      "ld.local.u32 %r1, [%r2]; @%p1 atom.add.u32 %r1, [%rd1], 1; red.global.add.u32 [%rd1], 1;\n"
      "bar.sync 0; fence.sc.gpu; ld.const.u32 %r1, [%r2];");
  REQUIRE(places.size() == 4);
  CHECK(places[0] == FencePlace{.at = {.function = "kernel", .ordinal = 2},
                                .place = 1,
                                .kind = AccessKind::kLoad,
                                .space = StateSpace::kGlobal,
                                .kernels = {"kernel"},
                                .lines = {},
                                .next = {}});
  CHECK(places[1].at.ordinal == 3);
  CHECK(places[1].kind == AccessKind::kStore);
  CHECK(places[1].space == StateSpace::kShared);
  CHECK(places[2].at.ordinal == 5);
  CHECK(places[2].kind == AccessKind::kAtomic);
  CHECK(places[2].space == StateSpace::kGeneric);
  CHECK(places[3].kind == AccessKind::kAtomic);
  CHECK(numbers(places) == std::vector<std::uint32_t>{1, 2, 3, 4});
}

TEST_CASE("the fences that the program has are listed, and no other kind of fence") {
  Module module = parse_module(
      kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                  "st.global.u32 [%rd1], %r1; @%p1 membar.cta; fence.proxy.alias; bar.sync 0;\n"
                  "fence.acq_rel.gpu; fence.mbarrier_init.release.cluster; ret;"));
  const auto own = find_own_fences(module, is_user_file);
  REQUIRE(own);
  REQUIRE(own->size() == 2);
  CHECK((*own)[0] ==
        OwnFence{.at = {.function = "kernel", .ordinal = 2},
                 .fence = {.order = wire::MemoryOrder::kSeqCst, .scope = wire::Scope::kCta},
                 .kernels = {"kernel"},
                 .lines = {}});
  CHECK((*own)[1].at.ordinal == 5);
  CHECK((*own)[1].fence.order == wire::MemoryOrder::kAcqRel);
}

TEST_CASE("the fence that the program has behind an access is told") {
  const auto next = [](const std::string& behind) {
    return places_of("st.global.u32 [%rd1], %r1;\n" + behind).at(0).next;
  };
  CHECK(next(".loc 1 5 1\nL: fence.acq_rel.cta;") ==
        Fence{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kCta});
  CHECK(next("membar.gl;") ==
        Fence{.order = wire::MemoryOrder::kSeqCst, .scope = wire::Scope::kGpu});
  CHECK_FALSE(next("@%p1 membar.gl;"));
  CHECK_FALSE(next("mov.u32 %r1, 1; membar.gl;"));
  CHECK_FALSE(next(""));
}

TEST_CASE("accesses of one line are one place, and the chain of inlined calls tells places apart") {
  const auto places = places_of(
      ".loc 1 5 1\nld.global.u32 %r1, [%rd1];\n.loc 1 5 9\nld.global.u32 %r2, [%rd1+4];\n"
      ".loc 1 6 1\n.loc 1 90 1, function_name f, inlined_at 1 6 1\nst.global.u32 [%rd1], %r1;\n"
      ".loc 1 7 1\n.loc 1 90 1, function_name f, inlined_at 1 7 1\nst.global.u32 [%rd1], %r1;\n"
      ".loc 1 5 3\nst.global.u32 [%rd1], %r1;");
  CHECK(numbers(places) == std::vector<std::uint32_t>{1, 1, 2, 3, 1});
  CHECK(places[0].lines == std::vector<SourcePlace>{{"/home/u/a.cu", 5}});
  CHECK(places[2].lines == std::vector<SourcePlace>{{"/home/u/a.cu", 90}, {"/home/u/a.cu", 6}});
}

TEST_CASE("what stands in a header of CUDA belongs to the user's line that calls it") {
  const auto places = places_of(
      ".loc 1 8 1\n.loc 2 40 1, function_name g, inlined_at 1 8 1\nst.global.u32 [%rd1], %r1;\n"
      ".loc 1 8 7\nst.global.u32 [%rd1], %r1;\n.loc 2 41 1\nst.global.u32 [%rd1], %r1;");
  CHECK(numbers(places) == std::vector<std::uint32_t>{1, 1, 2});
  CHECK(places[2].lines == std::vector<SourcePlace>{{"/cuda/include/b.h", 41}});
}

TEST_CASE(
    "a function's places are of the kernels that may call it, instances have lines in common") {
  const auto places = places_in(
      std::string(kHead) +
      ".func f(.param .b64 a)\n{ .reg .b64 %rd<2>; .reg .b32 %r<2>;\n.loc 1 3 1\n"
      "st.global.u32 [%rd1], %r1; ret; }\n"
      ".func unused()\n{ .reg .b64 %rd<2>; .reg .b32 %r<2>; st.global.u32 [%rd1], %r1; ret; }\n"
      ".entry two()\n{ .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
      "{ .param .b64 q; st.param.b64 [q], %rd1; call f, (q); }\n.loc 1 3 1\n"
      "ld.global.u32 %r1, [%rd1]; ret; }\n"
      ".entry one()\n{ .reg .b64 %rd<2>;\n"
      "{ .param .b64 q; st.param.b64 [q], %rd1; call f, (q); } ret; }\n" +
      kFiles);
  REQUIRE(places.size() == 3);
  CHECK(places[0].kernels == std::vector<std::string>{"one", "two"});
  CHECK(places[1].kernels.empty());
  CHECK(places[2].kernels == std::vector<std::string>{"two"});
  CHECK(numbers(places) == std::vector<std::uint32_t>{1, 2, 1});
}

}  // namespace barracuda::ptx
