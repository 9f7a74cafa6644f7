// The search for a repair on a program as a function: which races it has follows from the edits.
#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include "weak_memory/repair/search.h"

namespace barracuda::weak_memory {
namespace {

using detector::MissingOrder;
using detector::RaceKind;
using ptx::OrderEdit;
using ptx::StatementName;

constexpr const char* kHead =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n";
// 1 the data, 2 the flag; 3 to 5 the poll, 6 the data's read.
constexpr const char* kHandOver =
    "st.global.u32 [%rd1], 1; st.volatile.global.u32 [%rd2], 1;\n"
    "AGAIN: ld.volatile.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n"
    "ld.global.u32 %r2, [%rd1]; ret;\n}\n";

StatementName at(std::uint32_t ordinal) {
  return {.function = "k", .ordinal = ordinal};
}

std::string name(std::uint32_t ordinal) {
  return to_string(at(ordinal));
}

report::Finding race(const std::string& fingerprint, report::Lack lack) {
  report::Finding finding;
  finding.fingerprint = fingerprint;
  finding.kind = "inter-block";
  finding.accesses.resize(2);
  finding.lacks = {std::move(lack)};
  return finding;
}

// What the program is found to have: the race, until it is repaired.
std::vector<report::Finding> unless(bool is_repaired, report::Finding race) {
  return is_repaired ? std::vector<report::Finding>{} : std::vector{std::move(race)};
}

bool has(const Settings& settings, const std::function<bool(const OrderEdit&)>& is_it) {
  return std::ranges::any_of(settings.edits, is_it);
}

// A fence of at least that scope next to one of these instructions.
bool is_fenced(const Settings& settings, std::uint32_t before, std::uint32_t behind,
               wire::Scope scope) {
  return has(settings, [&](const OrderEdit& edit) {
    const auto* const insert = std::get_if<ptx::InsertFence>(&edit.change);
    return insert != nullptr && insert->fence.scope >= scope &&
           edit.at == (insert->is_before ? at(before) : at(behind));
  });
}

struct Program {
  std::string code = kHandOver;
  std::function<std::vector<report::Finding>(const Settings&)> findings;
  std::function<int(const Settings&)> status = [](const Settings&) { return 0; };

  Outcome operator()(const Settings& settings) const {
    Outcome outcome;
    outcome.report.coverage.launches = 1;
    outcome.report.coverage.instrumented = {"k"};
    outcome.report.findings = findings(settings);
    outcome.status = status(settings);
    if (settings.wants_ptx) {
      outcome.ptx = {kHead + code};
    }
    return outcome;
  }
};

Expected<ProgramCode> read_code(const std::vector<std::string>& texts) {
  std::vector<ptx::CodeView> modules;
  for (const std::string& text : texts) {
    TRY(ptx::CodeView module, ptx::CodeView::read(text, [](std::string_view) { return true; }));
    modules.push_back(std::move(module));
  }
  return ProgramCode(std::move(modules));
}

Repair repair_of(const Program& program, bool is_over = false) {
  const OracleRules rules;
  Oracle oracle(rules);
  Trials trials(one_by_one(program), oracle, [is_over] { return is_over; });
  return find_repair({.seeds = 2, .prove = {}}, trials, rules, read_code,
                     [](const std::string&) {});
}

report::Lack lack_of(MissingOrder missing, std::uint32_t about) {
  return {.missing = missing,
          .kind = RaceKind::kInterBlock,
          .scope = wire::Scope::kGpu,
          .first = name(1),
          .second = name(6),
          .about = about == 0 ? "" : name(about),
          .first_sync = "",
          .second_sync = ""};
}

}  // namespace

TEST_CASE("a missing release fence is put before the flag, as wide as it must be") {
  Program program;
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2)));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(repair.edits.front().edit.changes ==
        std::vector<OrderEdit>{
            {.at = at(2),
             .change = ptx::InsertFence{
                 .fence = {.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kGpu},
                 .is_before = true}}});
  CHECK(repair.repaired.size() == 1);
  CHECK(repair.open.empty());
  CHECK(repair.after.findings.empty());
  CHECK(repair.standing == Standing::kDetector);
}

TEST_CASE("a narrower fence is taken where it is enough") {
  Program program;
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kCta),
                  race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2)));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(cuda_spelling(repair.edits.front().edit) == "__threadfence_block()");
}

TEST_CASE("two fences are found for one race, and an edit that nothing needs is left out") {
  Program program;
  program.findings = [](const Settings& settings) {
    const bool is_released = is_fenced(settings, 2, 1, wire::Scope::kGpu);
    // Behind the loop is before what follows it.
    const bool is_acquired = is_fenced(settings, 6, 5, wire::Scope::kGpu);
    return unless(is_released && is_acquired, race("a", lack_of(MissingOrder::kFencesMissing, 2)));
  };
  const Repair repair = repair_of(program);
  CHECK(repair.edits.size() == 2);
  CHECK(repair.repaired.size() == 1);

  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 6, 5, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kFencesMissing, 2)));
  };
  CHECK(repair_of(program).edits.size() == 1);
}

TEST_CASE("the next candidate is tried where one does not help") {
  Program program;
  program.findings = [](const Settings& settings) {
    const bool is_release = has(settings, [](const OrderEdit& edit) {
      const auto* const order = std::get_if<ptx::ChangeOrder>(&edit.change);
      return order != nullptr && order->order == wire::MemoryOrder::kRelease && edit.at == at(2);
    });
    return unless(is_release, race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2)));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(cuda_spelling(repair.edits.front().edit) ==
        "cuda::memory_order_release, cuda::thread_scope_device");
}

TEST_CASE("an edit after which something else goes wrong is not kept") {
  Program program;
  const auto is_gone = [](const Settings& settings) {
    return is_fenced(settings, 2, 1, wire::Scope::kCta);
  };
  program.findings = [&](const Settings& settings) {
    return unless(is_gone(settings), race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2)));
  };
  SECTION("a finding of another type") {
    const auto races = program.findings;
    program.findings = [&, races](const Settings& settings) {
      auto found = races(settings);
      if (is_gone(settings)) {
        found.push_back({.type = report::FindingType::kBarrierDivergence, .fingerprint = "d"});
      }
      return found;
    };
  }
  SECTION("another exit status") {
    program.status = [&](const Settings& settings) { return is_gone(settings) ? 3 : 0; };
  }
  SECTION("another race") {
    const auto races = program.findings;
    program.findings = [&, races](const Settings& settings) {
      auto found = races(settings);
      if (is_gone(settings)) {
        found.push_back(race("new", lack_of(MissingOrder::kMixedSize, 0)));
      }
      return found;
    };
  }
  const Repair repair = repair_of(program);
  CHECK(repair.edits.empty());
  REQUIRE(repair.open.size() == 1);
  CHECK(repair.open.front().why == "no fence, order, scope or barrier that was tried cures it");
  CHECK(repair.after.findings.size() == 1);
}

TEST_CASE("what needs more than an edit is named with what it needs") {
  Program program;
  program.findings = [](const Settings&) {
    auto update = lack_of(MissingOrder::kNoSynchronisation, 0);
    update.are_updates = true;
    return std::vector<report::Finding>{race("a", update),
                                        race("b", lack_of(MissingOrder::kMixedSize, 0))};
  };
  const Repair repair = repair_of(program);
  CHECK(repair.edits.empty());
  REQUIRE(repair.open.size() == 2);
  CHECK(repair.open[0].why.find("atomics") != std::string::npos);
  CHECK(repair.open[1].why.find("one size") != std::string::npos);
}

TEST_CASE("a program without a race has nothing to be fixed, and an interruption ends it") {
  Program program;
  program.findings = [](const Settings&) { return std::vector<report::Finding>(); };
  const Repair none = repair_of(program);
  CHECK(none.edits.empty());
  CHECK(none.open.empty());
  CHECK_FALSE(none.is_incomplete);
  CHECK(none.runs == 2);
  CHECK(repair_of(program, true).is_incomplete);
}

TEST_CASE("a guess puts fences around the flag that the code has, and says that it is one") {
  Program program;
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kGpu) &&
                      is_fenced(settings, 6, 5, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kNoSynchronisation, 0)));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 2);
  CHECK(std::ranges::all_of(repair.edits, &AppliedEdit::is_guess));
}

TEST_CASE("a flag of plain accesses is a guess, too: the report sees no hand-over") {
  Program program;
  program.code =
      "st.global.u32 [%rd2], 1;\n"
      "AGAIN: ld.volatile.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN; "
      "ret;\n}\n";
  program.findings = [](const Settings& settings) {
    std::vector<report::Finding> found;
    if (!has(settings, [](const OrderEdit& edit) {
          const auto* const order = std::get_if<ptx::ChangeOrder>(&edit.change);
          return order != nullptr && order->order == wire::MemoryOrder::kRelease;
        })) {
      auto lack = lack_of(MissingOrder::kNoSynchronisation, 0);
      lack.second = name(2);
      found.push_back(race("a", lack));
    }
    return found;
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(repair.edits.front().is_guess);
}

TEST_CASE("lanes on two ways of a branch wait for each other, each on its own way") {
  Program program;
  program.code =
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra ELSE;\n"
      "st.global.u32 [%rd1], 1; bra END;\nELSE: ld.global.u32 %r2, [%rd1];\nEND: ret;\n}\n";
  const auto waits = [](const Settings& settings, std::uint32_t ordinal, bool is_before) {
    return has(settings, [&](const OrderEdit& edit) {
      const auto* const insert = std::get_if<ptx::InsertSync>(&edit.change);
      return insert != nullptr && insert->kind == ptx::SyncKind::kWarpBarrier &&
             edit.at == at(ordinal) && insert->is_before == is_before;
    });
  };
  program.findings = [&waits](const Settings& settings) {
    std::vector<report::Finding> found;
    if (!waits(settings, 3, false) || !waits(settings, 5, true)) {
      auto lack = lack_of(MissingOrder::kNoSynchronisation, 0);
      lack.kind = RaceKind::kIntraWarp;
      lack.first = name(3);
      lack.second = name(5);
      found.push_back(race("a", lack));
    }
    return found;
  };
  const Repair repair = repair_of(program);
  CHECK(repair.edits.size() == 2);
  CHECK(repair.open.empty());
}

TEST_CASE(
    "a barrier next to a line stands in every copy of a loop's body, and does for others there") {
  Program program;
  // Three rounds of a loop: lines 6 and 7 of the source each time.
  program.code =
      ".loc 1 5 1\nmov.u32 %r8, %tid.x;\n.loc 1 6 1\nsetp.gt.s32 %p1, %r8, 63; @%p1 bra SECOND;\n"
      ".loc 1 7 1\nld.shared.u32 %r1, [%r7+256]; st.shared.u32 [%r7], %r1;\n"
      "SECOND:\n.loc 1 6 1\nsetp.gt.s32 %p2, %r8, 31; @%p2 bra THIRD;\n"
      ".loc 1 7 1\nld.shared.u32 %r2, [%r7+128]; st.shared.u32 [%r7], %r2;\n"
      "THIRD:\n.loc 1 6 1\nsetp.gt.s32 %p3, %r8, 15; @%p3 bra END;\n"
      ".loc 1 7 1\nld.shared.u32 %r3, [%r7+64]; st.shared.u32 [%r7], %r3;\n"
      "END: ret;\n}\n.file 1 \"sum.cu\"\n";
  // Barriers between two stores; of a warp or of a block.
  const auto barriers = [](const Settings& settings, std::uint32_t from, bool of_block) {
    return has(settings, [&](const OrderEdit& edit) {
      const auto* const insert = std::get_if<ptx::InsertSync>(&edit.change);
      return insert != nullptr && (!of_block || insert->kind == ptx::SyncKind::kBlockBarrier) &&
             (insert->is_before ? edit.at.ordinal > from && edit.at.ordinal <= from + 3
                                : edit.at.ordinal >= from && edit.at.ordinal < from + 3);
    });
  };
  const auto race_of = [](const std::string& fingerprint, RaceKind kind, std::uint32_t from) {
    auto lack = lack_of(MissingOrder::kNoSynchronisation, 0);
    lack.kind = kind;
    lack.scope = wire::Scope::kCta;
    lack.first = name(from);
    lack.second = name(from + 3);
    return race(fingerprint, lack);
  };
  program.findings = [&](const Settings& settings) {
    std::vector<report::Finding> found;
    if (!barriers(settings, 5, true)) {
      found.push_back(race_of("a", RaceKind::kIntraBlock, 5));
    }
    if (!barriers(settings, 9, false)) {
      found.push_back(race_of("b", RaceKind::kIntraWarp, 9));
    }
    return found;
  };
  const Repair repair = repair_of(program);
  CHECK(repair.open.empty());
  CHECK(repair.repaired.size() == 2);
  REQUIRE(repair.edits.size() == 1);
  const Edit& edit = repair.edits.front().edit;
  CHECK(cuda_spelling(edit) == "__syncthreads()");
  CHECK(edit.lines.front().line == 6);
  CHECK(edit.changes.size() == 3);
}

TEST_CASE("behind an unrolled loop a barrier is executed once, within it once a round") {
  Program program;
  program.code =
      ".loc 1 5 1\nmov.u32 %r8, %tid.x;\n"
      ".loc 1 6 1\nst.shared.u32 [%r7], %r8;\n.loc 1 7 1\nbar.warp.sync -1;\n"
      ".loc 1 6 1\nst.shared.u32 [%r7], %r8;\n.loc 1 7 1\nbar.warp.sync -1;\n"
      ".loc 1 9 1\nsetp.ne.s32 %p1, %r8, 0; @%p1 bra END;\n"
      ".loc 1 10 1\nld.shared.u32 %r2, [%r7+128];\nEND: ret;\n}\n.file 1 \"sum.cu\"\n";
  program.findings = [](const Settings& settings) {
    auto lack = lack_of(MissingOrder::kNoSynchronisation, 0);
    lack.kind = RaceKind::kIntraBlock;
    lack.scope = wire::Scope::kCta;
    lack.first = name(3);
    lack.second = name(7);
    return unless(has(settings,
                      [](const OrderEdit& edit) {
                        return std::holds_alternative<ptx::InsertSync>(edit.change);
                      }),
                  race("a", lack));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(repair.edits.front().edit.lines.front().line == 9);
}

TEST_CASE(
    "where a barrier polls by an atomic, the fence is before the arrival and not before the poll") {
  Program program;
  program.code =
      "st.global.u32 [%rd1], 1; atom.global.add.u32 %r3, [%rd2], 1;\n"
      "AGAIN: atom.global.add.u32 %r1, [%rd2], 0; setp.lt.u32 %p1, %r1, 2; @%p1 bra AGAIN;\n"
      "ld.global.u32 %r2, [%rd1]; ret;\n}\n";
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kFencesMissing, 3)));
  };
  const Repair repair = repair_of(program);
  REQUIRE_FALSE(repair.edits.empty());
  CHECK(repair.open.empty());
}

TEST_CASE("copies that their thread alone has waited for need a barrier behind the wait") {
  Program program;
  program.code =
      "cp.async.ca.shared.global [%r7], [%rd1], 4; cp.async.wait_all; ld.shared.u32 %r2, [%r6];\n"
      "ret;\n}\n";
  program.findings = [](const Settings& settings) {
    auto lack = lack_of(MissingOrder::kAsyncWaitMissing, 0);
    lack.kind = RaceKind::kIntraBlock;
    lack.first = name(3);
    lack.second = name(1);
    return unless(has(settings,
                      [](const OrderEdit& edit) {
                        const auto* const insert = std::get_if<ptx::InsertSync>(&edit.change);
                        return insert != nullptr && insert->kind == ptx::SyncKind::kBlockBarrier &&
                               edit.at == at(3);
                      }),
                  race("a", lack));
  };
  CHECK(repair_of(program).edits.size() == 1);
}

TEST_CASE("products of another warpgroup need a barrier, which the report does not name") {
  Program program;
  program.code =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, "
      "0, 0; wgmma.wait_group.sync.aligned 0; st.shared.u32 [%r7], 1; ret;\n}\n";
  program.findings = [](const Settings& settings) {
    auto lack = lack_of(MissingOrder::kAsyncWaitMissing, 0);
    lack.kind = RaceKind::kIntraBlock;
    lack.second = name(3);
    return unless(has(settings,
                      [](const OrderEdit& edit) {
                        const auto* const insert = std::get_if<ptx::InsertSync>(&edit.change);
                        return insert != nullptr && insert->kind == ptx::SyncKind::kBlockBarrier;
                      }),
                  race("a", lack));
  };
  const Repair repair = repair_of(program);
  REQUIRE(repair.edits.size() == 1);
  CHECK(repair.edits.front().is_guess);
}

TEST_CASE("behind a barrier of too few a barrier of all is tried") {
  Program program;
  program.code = "st.global.u32 [%rd1], 1; bar.sync 1, 64; ld.global.u32 %r2, [%rd1]; ret;\n}\n";
  program.findings = [](const Settings& settings) {
    std::vector<report::Finding> found;
    if (!has(settings, [](const OrderEdit& edit) {
          const auto* const insert = std::get_if<ptx::InsertSync>(&edit.change);
          return insert != nullptr && insert->kind == ptx::SyncKind::kBlockBarrier;
        })) {
      auto lack = lack_of(MissingOrder::kNamedBarrierMissing, 2);
      lack.kind = RaceKind::kIntraBlock;
      lack.second = name(3);
      found.push_back(race("a", lack));
    }
    return found;
  };
  CHECK(repair_of(program).edits.size() == 1);
}

TEST_CASE("an arrival that releases nothing gets a fence before it") {
  Program program;
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kArrivalRelaxed, 2)));
  };
  CHECK(repair_of(program).edits.size() == 1);
}

TEST_CASE("edits with which the program hangs cost two runs, not one for each schedule") {
  std::size_t hanging = 0;
  Program program;
  program.findings = [&hanging](const Settings& settings) {
    hanging += settings.edits.empty() ? 0 : 1;
    return std::vector{race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2))};
  };
  const RunOnce hang = [&program](const Settings& settings) {
    Outcome outcome = program(settings);
    outcome.is_over_time = !settings.edits.empty();
    return outcome;
  };
  const OracleRules rules;
  Oracle oracle(rules);
  Trials trials(one_by_one(hang), oracle, [] { return false; });
  const Repair repair = find_repair({.seeds = 6, .per_race = 0, .prove = {}}, trials, rules,
                                    read_code, [](const std::string&) {});
  CHECK(repair.edits.empty());
  REQUIRE(repair.tried > 1);
  CHECK(hanging == 2 * (repair.tried - 1));
}

TEST_CASE("a repair whose idiom is proved says so, and one that is not says why not") {
  Program program;
  program.findings = [](const Settings& settings) {
    return unless(is_fenced(settings, 2, 1, wire::Scope::kGpu),
                  race("a", lack_of(MissingOrder::kReleaseFenceMissing, 2)));
  };
  const RunOnce traced = [&program](const Settings& settings) {
    Outcome outcome = program(settings);
    outcome.trace = !settings.wants_trace ? "" : settings.edits.empty() ? "before" : "after";
    return outcome;
  };
  for (const std::string why_not : {"", "they are too far apart"}) {
    const OracleRules rules;
    Oracle oracle(rules);
    Trials trials(one_by_one(traced), oracle, [] { return false; });
    const auto prove = [&why_not](const std::vector<report::Lack>& lacks, const std::string& before,
                                  const std::string& after) {
      CHECK(lacks.size() == 1);
      CHECK(before == "before");
      CHECK(after == "after");
      return IdiomProof{.why_not = why_not, .before = "", .after = ""};
    };
    const Repair repair =
        find_repair({.seeds = 2, .prove = prove}, trials, rules, read_code, [](const auto&) {});
    REQUIRE(repair.proofs.size() == 1);
    CHECK(repair.proofs.front().why_not == why_not);
    CHECK((repair.standing == Standing::kProof) == why_not.empty());
  }
}

}  // namespace barracuda::weak_memory
