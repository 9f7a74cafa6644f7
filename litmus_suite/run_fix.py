#!/usr/bin/env python3
"""Repairs the suite's racy programs with `barracuda fix` and prints a table and how many are repaired.

    litmus_suite/run_fix.py                      the programs of the kinds below
    litmus_suite/run_fix.py lock                 those whose name matches a pattern
    litmus_suite/run_fix.py --recompile          and compiles each repaired source, which must be
                                                 free of races on 20 seeds

Kinds are those of which a fence, a scope, an order or a barrier can be missing. A program counts as
repaired when no race is left in any schedule of the repaired program, and nothing new was found. The
last column compares the edited source with the program's clean twin: `twin` where both are the same
but for comments, `lines` where the edits stand at lines where the twin differs from the racy
program, `other` elsewhere.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
SECONDS = 300
GOAL = 0.8

# Kind: program, and its twin where there is one in the suite.
KINDS = {
    "scope": [
        ("atomic_block_scope_blocks_race", "atomic_blocks"),
        ("atomic_halves_block_scope_race", "atomic_halves"),
        ("cluster_remote_atomics_block_scope_race", "cluster_remote_atomics"),
        ("fence_block_scope_race", "fence_fence"),
        ("flag_block_fences_blocks_race", "flag_fences"),
        ("flag_narrow_reader_race", "flag_fences"),
        ("flag_narrow_writer_race", "flag_fences"),
        ("lock_block_fences_blocks_race", "lock_fences"),
        ("release_acquire_block_scope_blocks_race", "release_acquire"),
        ("release_narrow_acquire_wide_race", "release_acquire"),
    ],
    "fence": [
        ("atomic_orders_nothing_race", "flag_atomic_fences"),
        ("fence_before_data_race", "fence_fence"),
        ("cumulative_relaxed_link_race", "cumulative_scopes"),
        ("release_sequence_broken_race", "release_sequence"),
        ("red_broken_chain_race", "red_continues_chain"),
        ("red_relaxed_race", "red_release"),
    ],
    "flag": [
        ("acquire_once_race", None),
        ("flag_atomic_reader_fence_race", "flag_atomic_fences"),
        ("flag_atomic_writer_fence_race", "flag_atomic_fences"),
        ("flag_behind_barrier_race", "flag_behind_barrier"),
        ("flag_in_functions_race", "flag_in_functions"),
        ("flag_other_location_race", "flag_fences"),
        ("flag_returned_race", "flag_returned"),
        ("flag_shared_memory_race", "flag_shared_memory"),
        ("plain_answer_race", "relaxed_answer"),
        ("relaxed_store_acquire_race", "release_acquire"),
        ("release_relaxed_load_race", "release_acquire"),
    ],
    "lock": [
        ("lock_acquire_fence_only_race", "lock_fences"),
        ("lock_acquire_relaxed_unlock_race", "lock_acquire_release"),
        ("lock_not_taken_race", "lock_fences"),
        ("lock_release_fence_only_race", "lock_fences"),
    ],
    "ticket": [
        ("ticket_relaxed_race", "ticket_acq_rel"),
        ("ticket_release_only_race", "ticket_acq_rel"),
    ],
    "barrier": [
        ("atomic_shared_init_race", "atomic_shared"),
        ("barrier_one_path_race", None),
        ("cluster_block_barrier_race", "cluster_sync"),
        ("cp_async_no_barrier_race", "cp_async_wait"),
        ("global_warps_read_write_race", "global_warps_read_write_barrier"),
        ("grid_barrier_by_hand_no_fence_race", "grid_barrier_by_hand"),
        ("named_barrier_other_pair_race", None),
        ("shared_dynamic_race", "shared_dynamic_barrier"),
        ("shared_second_round_race", "shared_second_round_barrier"),
        ("shared_warps_read_write_race", "shared_warps_read_write_barrier"),
    ],
    "syncwarp": [
        ("branch_reads_other_path_race", None),
        ("coalesced_group_outside_race", "coalesced_group_sync"),
        ("global_lanes_read_write_race", "global_lanes_read_write_syncwarp"),
        ("shared_lanes_read_write_race", "shared_lanes_read_write_syncwarp"),
        ("shfl_orders_nothing_race", "shfl_exchange"),
        ("syncwarp_halves_race", None),
        ("tile_sync_other_tile_race", "tile_sync"),
    ],
}


def source_of(name):
    for folder in ("suite", "modern"):
        path = os.path.join(SUITE, folder, name + ".cu")
        if os.path.exists(path):
            return path
    sys.exit("%s is not in the suite" % name)


def code_of(path):
    """The lines without comments and blanks."""
    with open(path, encoding="utf-8") as file:
        lines = [re.sub(r"//.*$", "", line).strip() for line in file]
    return [line for line in lines if line]


def patched(source, diff, folder):
    """A copy of the source with the diff applied, or None where there is nothing to apply."""
    if not diff:
        return None
    copy = os.path.join(folder, os.path.basename(source))
    with open(source, encoding="utf-8") as file, open(copy, "w", encoding="utf-8") as made:
        made.write(file.read())
    applied = subprocess.run(["patch", "--silent", copy], input=diff, text=True, check=False)
    return copy if applied.returncode == 0 else None


def comparison(source, repaired, twin):
    if twin is None or repaired is None:
        return "-"
    racy, fixed, clean = code_of(source), code_of(repaired), code_of(source_of(twin))
    if fixed == clean:
        return "twin"

    def changes(after):
        matcher = difflib.SequenceMatcher(None, racy, after, autojunk=False)
        return {begin for tag, begin, _, _, _ in matcher.get_opcodes() if tag != "equal"}

    return "lines" if changes(fixed) <= changes(clean) else "other"


def recompiled(arguments, copy, source, folder):
    """What the repaired source does on 20 seeds when it is compiled anew."""
    program = os.path.join(folder, "repaired")
    flags = []
    with open(source, encoding="utf-8") as file:
        for line in file:
            if line.startswith("// flags: "):
                flags = line[len("// flags: "):].split()
    command = [arguments.nvcc, "-std=c++17", "-lineinfo", "-cudart", "shared", "-arch", "sm_90",
               "-I", os.path.dirname(source), *flags, copy, "-o", program]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return "does not compile"
    run = subprocess.run([arguments.barracuda, "run", "--device", "cpu", "--seeds", "22", "--",
                          program], capture_output=True, text=True, check=False)
    return "free" if run.returncode == 0 else "status %d" % run.returncode


def repair(arguments, kind, name, twin):
    source = source_of(name)
    with tempfile.TemporaryDirectory() as folder:
        report, diff = os.path.join(folder, "fix.json"), os.path.join(folder, "fix.diff")
        command = [arguments.barracuda, "fix", "--seeds", str(arguments.seeds), "--json", report,
                   "--diff", diff, "--", os.path.join(arguments.programs, "litmus_" + name)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                                    check=False)
        except subprocess.TimeoutExpired:
            return [name, kind, "no", "it does not end", "", "-"], False
        if arguments.verbose:
            print(result.stderr, file=sys.stderr)
        if not os.path.exists(report):
            return [name, kind, "no", "status %d" % result.returncode, "", "-"], False
        with open(report, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        found = next(line for line in lines if line["type"] == "fix")
        is_repaired = bool(found["edits"]) and found["races_after"] == 0
        edits = "; ".join("%s %s:%s %s" % (edit["place"]["where"],
                                           os.path.basename(edit["place"]["file"] or "?"),
                                           edit["place"]["line"], edit["cuda"])
                          for edit in found["edits"])
        if not is_repaired:
            edits = "; ".join([edits] * bool(edits) + [race["why"] for race in found["open"]])
        with open(diff, encoding="utf-8") as file:
            copy = patched(source, file.read(), folder)
        if any(edit["no_diff"] for edit in found["edits"]):
            copy = None  # a part of the repair alone
        cells = [name, kind, "yes" if is_repaired else "no", edits or "-",
                 found["standing"] or "-", comparison(source, copy, twin)]
        if arguments.recompile:
            cells.append(recompiled(arguments, copy, source, folder)
                         if copy and is_repaired else "-")
        return cells, is_repaired


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".", help="programs whose name matches it")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--seeds", type=int, default=8, help="schedules behind each answer")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--recompile", action="store_true", help="compile the repaired sources")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--verbose", action="store_true", help="print each report")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    programs = [(kind, name, twin) for kind, rows in KINDS.items() for name, twin in rows
                if re.search(arguments.pattern, name)]
    if not programs:
        sys.exit("no program matches %s" % arguments.pattern)
    header = ["program", "kind", "repaired", "edits, or why not", "standing", "twin"]
    header += ["recompiled"] * arguments.recompile
    print("| " + " | ".join(header) + " |\n|" + " --- |" * len(header), flush=True)
    repaired = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for cells, is_repaired in pool.map(lambda row: repair(arguments, *row), programs):
            repaired += is_repaired
            print("| " + " | ".join(cells) + " |", flush=True)
    print("%d of %d repaired" % (repaired, len(programs)))
    return 0 if repaired >= GOAL * len(programs) else 1


if __name__ == "__main__":
    sys.exit(main())
