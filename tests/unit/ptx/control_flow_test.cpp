#include "ptx/control_flow.h"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

using Blocks = std::vector<std::uint32_t>;

ControlFlow flow_of(const Module& module) {
  auto flow = build_control_flow(module, module.functions.at(0));
  if (!flow) {
    FAIL(flow.error().to_string());
  }
  return std::move(*flow);
}

// The block of the instruction that stores or adds `number`.
std::uint32_t block_with(const Module& module, const ControlFlow& flow, std::string_view text) {
  for (std::size_t i = 0; i < module.statements.size(); ++i) {
    if (module.statements[i].text.find(text) != std::string_view::npos &&
        module.statements[i].kind == StatementKind::kInstruction) {
      return flow.block_of(i);
    }
  }
  FAIL("no such statement: " + std::string(text));
  return kNoBlock;
}

// Blocks that `from` reaches without passing through `without`.
std::set<std::uint32_t> reached(const ControlFlow& flow, std::uint32_t from,
                                std::uint32_t without) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work;
  if (from != without) {
    work.push_back(from);
    seen.insert(from);
  }
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t next : flow.blocks[block].successors) {
      if (next != without && seen.insert(next).second) {
        work.push_back(next);
      }
    }
  }
  return seen;
}

bool reaches_end(const ControlFlow& flow, std::uint32_t from, std::uint32_t without) {
  const auto seen = reached(flow, from, without);
  return std::ranges::any_of(seen, [&](std::uint32_t b) { return flow.blocks[b].leaves; });
}

// By definition: every path from `block` to the end passes through `candidate`.
bool post_dominates(const ControlFlow& flow, std::uint32_t candidate, std::uint32_t block) {
  return reaches_end(flow, block, kNoBlock) && !reaches_end(flow, block, candidate);
}

void check_against_definition(const ControlFlow& flow) {
  const auto reachable = reached(flow, 0, kNoBlock);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    CHECK(flow.blocks[b].is_reachable == reachable.contains(b));
    Blocks post_dominators;
    for (std::uint32_t a = 0; a < flow.blocks.size(); ++a) {
      const bool dominates = a == b || (reachable.contains(a) && reachable.contains(b) &&
                                        !reached(flow, 0, a).contains(b));
      CHECK(flow.dominates(a, b) == dominates);
      if (a != b && reachable.contains(b) && post_dominates(flow, a, b)) {
        post_dominators.push_back(a);
      }
    }
    // The immediate one is the one that all others post-dominate.
    std::uint32_t expected = kNoBlock;
    for (const std::uint32_t a : post_dominators) {
      if (std::ranges::all_of(post_dominators, [&](std::uint32_t other) {
            return other == a || post_dominates(flow, other, a);
          })) {
        expected = a;
      }
    }
    CHECK(flow.blocks[b].immediate_post_dominator == expected);
  }
}

void check_cover(const Module& module, const ControlFlow& flow) {
  const Function& function = module.functions.at(0);
  CHECK(flow.blocks.front().begin == function.body_begin);
  CHECK(flow.blocks.front().predecessors.empty());
  CHECK(flow.blocks.back().end == function.body_end + 1);
  for (std::size_t i = 1; i < flow.blocks.size(); ++i) {
    CHECK(flow.blocks[i].begin == flow.blocks[i - 1].end);
    CHECK(flow.blocks[i].begin < flow.blocks[i].end);
    CHECK(flow.block_of(flow.blocks[i].begin) == i);
  }
  CHECK(flow.block_of(function.header) == kNoBlock);
  CHECK(flow.block_of(function.body_end + 1) == kNoBlock);
}

}  // namespace

TEST_CASE("a branch over an instruction meets again behind it") {
  const Module module = parse_kernel(
      ".reg .pred %p1;\nadd.u32 %r1, 1, 1;\n@%p1 bra L;\nadd.u32 %r1, 2, 2;\nL:\nadd.u32 %r1, 3, "
      "3;\nret;");
  const ControlFlow flow = flow_of(module);
  check_cover(module, flow);
  REQUIRE(flow.blocks.size() == 3);
  CHECK(flow.blocks[0].successors == Blocks{2, 1});
  CHECK(flow.blocks[1].successors == Blocks{2});
  CHECK(flow.blocks[2].leaves);
  CHECK(flow.blocks[0].immediate_post_dominator == 2);
  CHECK(flow.blocks[2].immediate_dominator == 0);
  CHECK(flow.blocks[2].immediate_post_dominator == kNoBlock);
  CHECK(flow.dominates(0, 2));
  CHECK_FALSE(flow.dominates(1, 2));
}

TEST_CASE("a loop at the start of a body does not make the entry its header") {
  const Module module = parse_kernel("L: add.u32 %r1, 1, 1; @%p1 bra L; ret;");
  const ControlFlow flow = flow_of(module);
  check_cover(module, flow);
  REQUIRE(flow.blocks.size() == 3);
  CHECK(flow.blocks[1].successors == Blocks{1, 2});
  CHECK(flow.blocks[1].immediate_post_dominator == 2);
  check_against_definition(flow);
}

TEST_CASE("predicated returns and exits go on, traps lead nowhere") {
  const Module module = parse_kernel(
      "@%p1 ret; add.u32 %r1, 1, 1; @!%p2 exit; add.u32 %r1, 2, 2; @%p3 bra OK; trap; OK: add.u32 "
      "%r1, 3, 3; @%p4 trap; add.u32 %r1, 4, 4;");
  const ControlFlow flow = flow_of(module);
  check_against_definition(flow);
  CHECK(flow.blocks[0].leaves);
  CHECK(flow.blocks[0].successors == Blocks{1});
  const std::uint32_t before = block_with(module, flow, "%r1, 2, 2");
  const std::uint32_t ok = block_with(module, flow, "%r1, 3, 3");
  const std::uint32_t last = block_with(module, flow, "%r1, 4, 4");
  CHECK(flow.blocks[before].immediate_post_dominator == ok);
  CHECK(flow.blocks[ok].immediate_post_dominator == last);
  CHECK(flow.blocks[last].leaves);
}

TEST_CASE("an indexed branch goes to all of its targets") {
  const Module module = parse_kernel(
      "ts: .branchtargets A, B, A;\nbrx.idx %r1, ts;\nA: add.u32 %r1, 1, 1; bra.uni C;\nB: add.u32 "
      "%r1, 2, 2;\nC: ret;");
  const ControlFlow flow = flow_of(module);
  check_against_definition(flow);
  CHECK(flow.blocks[0].successors ==
        Blocks{block_with(module, flow, "%r1, 1, 1"), block_with(module, flow, "%r1, 2, 2")});
}

TEST_CASE("labels belong to their block: siblings and nested blocks may use them again") {
  const Module module = parse_kernel(
      "{ @%p1 bra L; add.u32 %r1, 1, 1; L: add.u32 %r1, 2, 2; }\n"
      "{ @%p1 bra L; add.u32 %r1, 3, 3; L: add.u32 %r1, 4, 4; { @%p2 bra L; } @%p3 bra END; }\n"
      "END: ret;");
  const ControlFlow flow = flow_of(module);
  check_cover(module, flow);
  check_against_definition(flow);
  const std::uint32_t second = block_with(module, flow, "%r1, 2, 2");
  const std::uint32_t fourth = block_with(module, flow, "%r1, 4, 4");
  CHECK(flow.blocks[0].successors.front() == second);
  CHECK(flow.blocks[second].successors.front() == fourth);
  CHECK(flow.blocks[fourth].successors.front() == fourth);
}

TEST_CASE("endless loops and unreachable code break nothing") {
  const Module module = parse_kernel(
      "@%p1 bra SPIN; add.u32 %r1, 1, 1; ret; add.u32 %r1, 9, 9; bra DONE; SPIN: add.u32 %r1, 2, "
      "2; bra SPIN; DONE: ret;");
  const ControlFlow flow = flow_of(module);
  check_cover(module, flow);
  check_against_definition(flow);
  const std::uint32_t spin = block_with(module, flow, "%r1, 2, 2");
  CHECK(flow.blocks[spin].immediate_post_dominator == kNoBlock);
  CHECK(flow.blocks[0].immediate_post_dominator == block_with(module, flow, "%r1, 1, 1"));
  const std::uint32_t dead = block_with(module, flow, "%r1, 9, 9");
  CHECK_FALSE(flow.blocks[dead].is_reachable);
  CHECK(flow.blocks[dead].immediate_dominator == kNoBlock);
  const Module endless = parse_kernel("L: bra L;");
  check_against_definition(flow_of(endless));
  const Module empty = parse_kernel("");
  CHECK(flow_of(empty).blocks.size() == 1);
  CHECK(flow_of(empty).blocks[0].leaves);
}

TEST_CASE("a branch to a label that does not exist is an error with its place") {
  const Module module = parse_kernel("{ L: ret; }\n bra L;");
  const auto flow = build_control_flow(module, module.functions[0]);
  REQUIRE_FALSE(flow);
  CHECK(flow.error().to_string() == "line 7:2: branch to the unknown label \"L\" in \"kernel\"");
  const Module declared = parse_module(".extern .func f;");
  CHECK_FALSE(build_control_flow(declared, declared.functions[0]));
}

TEST_CASE("dominators agree with their definition on random graphs") {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    const auto blocks = 2 + random() % 9;
    std::string body;
    for (std::size_t i = 0; i < blocks; ++i) {
      body += fmt::format("L{}: add.u32 %r1, %r1, {};\n", i, i);
      const auto target = random() % blocks;
      switch (random() % 6) {
        case 0:
          body += fmt::format("bra L{};\n", target);
          break;
        case 1:
          body += "ret;\n";
          break;
        case 2:
          body += "@%p2 trap;\n";
          break;
        default:
          body += fmt::format("@%p1 bra L{};\n", target);
          break;
      }
    }
    CAPTURE(body);
    const Module module = parse_kernel(body);
    const ControlFlow flow = flow_of(module);
    check_cover(module, flow);
    check_against_definition(flow);
  }
}

TEST_CASE("a chain of a hundred thousand blocks needs no deep stack") {
  std::string body;
  for (int i = 0; i < 100'000; ++i) {
    body += fmt::format("@%p1 bra L{0};\nL{0}:\n", i);
  }
  const Module module = parse_kernel(body);
  const ControlFlow flow = flow_of(module);
  CHECK(flow.blocks.size() == 100'001);
  CHECK(flow.dominates(0, 100'000));
}

TEST_CASE("every function of the corpus has a control flow graph") {
  for (const auto& path : corpus()) {
    const Module module = parse_module(read_text(path));
    for (const Function& function : module.functions) {
      if (function.has_body) {
        CAPTURE(path, function.name);
        CHECK(build_control_flow(module, function));
      }
    }
  }
}

}  // namespace barracuda::ptx
