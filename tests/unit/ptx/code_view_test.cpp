#include "ptx/code_view.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr const char* kRegisters =
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 s[256];\n";

CodeView view_of(const std::string& body) {
  auto view =
      CodeView::read(kernel_text(kRegisters + body + " ret;") + ".file 1 \"/home/u/a.cu\"\n",
                     [](std::string_view file) { return file.find("/cuda/") == file.npos; });
  REQUIRE(view);
  return std::move(*view);
}

StatementName at(std::uint32_t ordinal) {
  return {.function = "kernel", .ordinal = ordinal};
}

bool has_gap(const std::vector<Gap>& gaps, std::uint32_t ordinal, bool is_before) {
  return std::ranges::any_of(gaps, [&](const Gap& gap) {
    return gap.at == at(ordinal) && gap.is_before == is_before && gap.is_for_all;
  });
}

}  // namespace

TEST_CASE("a barrier may stand between two accesses that every thread makes") {
  const CodeView view = view_of("st.shared.u32 [%r1], %r2; ld.shared.u32 %r3, [%r4];");
  const auto gaps = view.gaps_between(at(1), at(2));
  CHECK(has_gap(gaps, 1, false));
  CHECK(has_gap(gaps, 2, true));
  CHECK(view.gaps_between(at(2), at(1)).empty());
}

TEST_CASE("a barrier that is there already leaves nothing to be put in") {
  const CodeView view = view_of("st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r3, [%r4];");
  CHECK(view.gaps_between(at(1), at(3)).empty());
}

TEST_CASE("a barrier of the block is too little between blocks of a cluster") {
  const CodeView view =
      view_of("st.shared.u32 [s], 1; bar.sync 0; ld.shared::cluster.u32 %r1, [%rd1];");
  CHECK(view.gaps_between(at(1), at(3)).empty());
  CHECK(has_gap(view.gaps_between(at(1), at(3), true), 3, true));
}

TEST_CASE("no barrier may stand where the thread's number decides who comes") {
  const CodeView view = view_of(
      "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
      "@%p1 bra LATER; st.shared.u32 [%r1], %r2;\n"
      "LATER: ld.shared.u32 %r3, [%r4];");
  const auto gaps = view.gaps_between(at(4), at(5));
  CHECK_FALSE(has_gap(gaps, 4, false));
  CHECK(has_gap(gaps, 5, true));
}

TEST_CASE("a branch that all threads of a block take alike does not part them") {
  const CodeView view = view_of(
      "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0;\n"
      "@%p1 bra LATER; st.shared.u32 [%r1], %r2;\n"
      "LATER: ld.shared.u32 %r3, [%r4];");
  CHECK(has_gap(view.gaps_between(at(4), at(5)), 4, false));
}

TEST_CASE("what a loop brings around has a gap at its end") {
  const CodeView view = view_of(
      "mov.u32 %r1, 0;\n"
      "AGAIN: st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r3, [%r4];\n"
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra AGAIN;");
  CHECK(view.gaps_between(at(2), at(4)).empty());
  const auto gaps = view.gaps_between(at(4), at(2));
  CHECK(has_gap(gaps, 4, false));
  CHECK(has_gap(gaps, 2, true));
  CHECK(std::ranges::all_of(gaps, [](const Gap& gap) { return gap.loops == 1; }));
}

TEST_CASE("behind a poll is behind its loop") {
  const CodeView view = view_of(
      "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n"
      "ld.global.u32 %r2, [%rd2];");
  const auto point = view.find(at(1));
  REQUIRE(point);
  CHECK(point->is_in_poll);
  const auto gap = view.gap_behind_read(at(1));
  REQUIRE(gap);
  CHECK(gap->at == at(4));
  CHECK(gap->is_before);
  CHECK(gap->is_behind_loop);
  CHECK(gap->loops == 0);
  CHECK(view.reads_before(at(4)) == std::vector<StatementName>{at(1)});
}

TEST_CASE("a loop that does more than wait is no poll") {
  const CodeView view = view_of(
      "AGAIN: atom.global.exch.b32 %r1, [%rd1], 1; st.global.u32 [%rd2], %r1;\n"
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN; ld.global.u32 %r2, [%rd2];");
  const auto gap = view.gap_behind_read(at(1));
  REQUIRE(gap);
  CHECK(gap->at == at(1));
  CHECK_FALSE(gap->is_before);
}

TEST_CASE("what may publish comes behind, the strong ones first") {
  const CodeView view = view_of(
      "st.global.u32 [%rd1], 1; st.global.u32 [%rd2], 2; atom.global.exch.b32 %r1, [%rd3], 1;");
  CHECK(view.writes_behind(at(1)) == std::vector<StatementName>{at(3), at(2)});
}

TEST_CASE("copies are those of one line that do the same") {
  const CodeView view = view_of(
      ".loc 1 7 3\n st.global.u32 [%rd1], 1; st.global.u32 [%rd2], 1;\n"
      "ld.global.u32 %r1, [%rd1];\n .loc 1 8 3\n st.global.u32 [%rd3], 1;");
  CHECK(view.copies_of(at(1)) == std::vector<StatementName>{at(1), at(2)});
  const auto point = view.find(at(3));
  REQUIRE(point);
  REQUIRE(point->lines.size() == 1);
  CHECK(point->lines.front().line == 7);
  CHECK_FALSE(view.find(at(99)));
}

TEST_CASE("accesses of a header are told apart though the user's line is the same") {
  const std::string calls =
      ".file 2 \"/cuda/x.h\"\n.loc 2 30 3, function_name $L__info_string0, inlined_at 1 7 3\n"
      "st.global.u32 [%rd1], 1;\n";
  const CodeView one = view_of(calls);
  const auto alone = one.find(at(1));
  REQUIRE(alone);
  CHECK(alone->lines.front().line == 7);
  CHECK_FALSE(alone->within);
  const CodeView two = view_of(calls +
                               ".loc 2 31 3, function_name $L__info_string0, inlined_at 1 7 3\n"
                               "st.global.u32 [%rd2], 1;\n");
  CHECK(two.copies_of(at(1)) == std::vector<StatementName>{at(1)});
  const auto point = two.find(at(1));
  REQUIRE(point);
  CHECK(point->lines.front().line == 7);
  REQUIRE(point->within);
  CHECK(point->within->line == 30);
  const std::vector<Gap> gaps = two.gaps_between(at(1), at(2));
  REQUIRE_FALSE(gaps.empty());
  CHECK(std::ranges::all_of(gaps, [](const Gap& gap) { return gap.within.has_value(); }));
}

}  // namespace barracuda::ptx
