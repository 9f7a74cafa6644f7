#include "weak_memory/repair/source_edit.h"

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

constexpr ptx::Fence kFence{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kGpu};

Edit edit_at(std::uint32_t line, const ptx::OrderChange& change, bool is_before) {
  return {.changes = {{.at = {.function = "k", .ordinal = 1}, .change = change}},
          .lines = {{.function = "k", .file = "a.cu", .line = line}},
          .is_line_before = is_before,
          .before = "",
          .after = ""};
}

struct Changed {
  SourceLines after;
  std::string problem;
};

Changed change(const SourceLines& source, const Edit& edit) {
  SourceChanges changes =
      change_source({edit}, [&](const std::string&) { return Expected<SourceLines>(source); });
  REQUIRE(changes.problems.size() == 1);
  return {.after = changes.files.contains("a.cu") ? changes.files["a.cu"].after : source,
          .problem = changes.problems.front()};
}

Edit fence(std::uint32_t line, bool is_before) {
  return edit_at(line, ptx::InsertFence{.fence = kFence, .is_before = is_before}, is_before);
}

}  // namespace

TEST_CASE("a fence stands before or behind the statement of its line") {
  const SourceLines source = {"void f() {", "  x = 1;", "  y =", "      2;", "}"};
  CHECK(change(source, fence(2, true)).after ==
        SourceLines{"void f() {", "  __threadfence();", "  x = 1;", "  y =", "      2;", "}"});
  CHECK(change(source, fence(4, true)).after ==
        SourceLines{"void f() {", "  x = 1;", "  __threadfence();", "  y =", "      2;", "}"});
  CHECK(change(source, fence(3, false)).after ==
        SourceLines{"void f() {", "  x = 1;", "  y =", "      2;", "  __threadfence();", "}"});
}

TEST_CASE("a source with the ends of lines of Windows keeps them") {
  CHECK(change({"x = 1;\r", "y = 2;\r"}, fence(2, true)).after ==
        SourceLines{"x = 1;\r", "__threadfence();\r", "y = 2;\r"});
}

TEST_CASE("behind a loop is behind its closing brace") {
  Edit edit = fence(1, false);
  edit.is_behind_loop = true;
  CHECK(
      change({"  while (f() == 0) {  // }", "    ;", "  }", "  x = 1;"}, edit).after ==
      SourceLines{"  while (f() == 0) {  // }", "    ;", "  }", "  __threadfence();", "  x = 1;"});
}

TEST_CASE("behind what a condition reads is in its body") {
  CHECK(change({"  if (ticket(", "          1) == 3) {", "    x = 1;", "  }"}, fence(1, false))
            .after == SourceLines{"  if (ticket(", "          1) == 3) {", "    __threadfence();",
                                  "    x = 1;", "  }"});
  const Changed bare = change({"  if (ticket() == 3)", "    x = 1;"}, fence(1, false));
  CHECK(bare.problem == "the statement under the condition has no braces of its own");
  CHECK(bare.after.size() == 2);
}

TEST_CASE("what stands under a condition without braces is not torn from it") {
  CHECK(change({"  if (c)", "    x = 1;"}, fence(2, true)).after ==
        SourceLines{"  __threadfence();", "  if (c)", "    x = 1;"});
  CHECK(change({"  if (c) {", "  } else {", "    x = 1;", "  }"}, fence(2, true)).problem ==
        "its statement shares the line with the end of another one");
}

TEST_CASE("two statements on a line are left alone") {
  CHECK_FALSE(change({"  x = 1; y = 2;"}, fence(1, false)).problem.empty());
}

TEST_CASE("scopes and orders are changed where they are spelled out") {
  const auto scope = [](wire::Scope wider) { return ptx::ChangeScope{.scope = wider}; };
  CHECK(change({"  __threadfence_block();"}, edit_at(1, scope(wire::Scope::kGpu), false)).after ==
        SourceLines{"  __threadfence();"});
  CHECK(change({"  atomicAdd_block(&x, 1);"}, edit_at(1, scope(wire::Scope::kSys), false)).after ==
        SourceLines{"  atomicAdd_system(&x, 1);"});
  CHECK(change({"  cuda::atomic_ref<int, cuda::thread_scope_block> r(x);", "", "  r.store(1);"},
               edit_at(3, scope(wire::Scope::kGpu), false))
            .after.front() == "  cuda::atomic_ref<int, cuda::thread_scope_device> r(x);");
  const ptx::ChangeOrder release{.order = wire::MemoryOrder::kRelease, .scope = wire::Scope::kGpu};
  CHECK(change({"  r.store(1, cuda::memory_order_relaxed);"}, edit_at(1, release, false)).after ==
        SourceLines{"  r.store(1, cuda::memory_order_release);"});
  CHECK(change({"  *flag = 1;"}, edit_at(1, release, false)).problem ==
        "its line does not spell order and scope out: the access is to be written anew");
}

TEST_CASE("a source that is not there, or another one, is said to be so") {
  const auto none =
      change_source({fence(1, true)}, [](const std::string& file) -> Expected<SourceLines> {
        return unexpected({.message = "cannot open: there is none", .file = file});
      });
  CHECK(none.problems.front() == "the source: a.cu: cannot open: there is none");
  CHECK(change({"x;"}, fence(7, true)).problem ==
        "the source has no such line: it is not the one that was compiled");
  Edit inner = fence(1, true);
  inner.within = {.function = "push", .file = "cub/queue.cuh", .line = 40};
  CHECK(change({"x;"}, inner).problem ==
        "it belongs to cub/queue.cuh:40, within what that line calls");
  Edit unknown = fence(1, true);
  unknown.lines.clear();
  CHECK(change({"x;"}, unknown).problem == "no line is known: compile with -lineinfo");
}

}  // namespace barracuda::weak_memory
