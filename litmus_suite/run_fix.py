#!/usr/bin/env python3
"""Repairs the suite's racy programs with `barracuda fix` and prints a table and how many are repaired.

    litmus_suite/run_fix.py                      the programs of the kinds below
    litmus_suite/run_fix.py lock                 those whose name matches a pattern
    litmus_suite/run_fix.py --others             the suite's other races within a launch: their kinds
                                                 need more than an edit, or are not asked for
    litmus_suite/run_fix.py --recompile          and compiles each repaired source, which must be
                                                 free of races on 20 seeds
    litmus_suite/run_fix.py --missing            names the racy programs that are in neither list (tools/lint.sh asks)

Kinds are those of which a fence, a scope, an order or a barrier can be missing. A program counts as
repaired when no race is left in any schedule of the repaired program, nothing new was found, and no
run of it with late stores and stale loads failed.

`twin` compares the edited source with the program's clean twin: `same` where both are the same but
for comments, `lines` where the edits stand at lines where the twin differs from the racy program,
`other` elsewhere, `-` where there is no twin or no source that could be edited.

`advice` compares the edits with what the report of the race says is missing: `agrees`, `guess` where
the report could not name it and the edit says so. `DISAGREES` is an error: status 1, as where fewer
than four in five are repaired.
"""
import argparse
import concurrent.futures
import difflib
import glob
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
        ("mbarrier_init_no_sync_race", None),
        ("plain_answer_race", "relaxed_answer"),
        ("relaxed_store_acquire_race", "release_acquire"),
        ("release_relaxed_load_race", "release_acquire"),
    ],
    "lock": [
        ("lock_acquire_fence_only_race", "lock_fences"),
        ("lock_acquire_relaxed_unlock_race", "lock_acquire_release"),
        ("lock_not_taken_race", "lock_fences"),
        ("lock_release_fence_only_race", "lock_fences"),
        ("lock_two_locks_race", None),
    ],
    "ticket": [
        ("ticket_relaxed_race", "ticket_acq_rel"),
        ("ticket_release_only_race", "ticket_acq_rel"),
    ],
    "barrier": [
        ("atomic_shared_init_race", "atomic_shared"),
        ("barrier_one_path_race", None),
        ("bulk_zero_no_barrier_race", "bulk_zero_barrier"),
        ("cluster_arrive_relaxed_race", "cluster_sync"),
        ("cluster_block_barrier_race", "cluster_sync"),
        ("cluster_other_cluster_race", None),
        ("cp_async_no_barrier_race", "cp_async_wait"),
        ("surface_no_barrier_race", "surface_barrier"),
        ("global_blocks_barrier_race", None),
        ("global_warps_read_write_race", "global_warps_read_write_barrier"),
        ("grid_barrier_by_hand_no_fence_race", "grid_barrier_by_hand"),
        ("grid_sync_missing_race", None),
        ("matrix_bytes_race", "matrix_bytes_barrier"),
        ("matrix_load_race", "matrix_load_barrier"),
        ("matrix_packed_row_race", None),
        ("matrix_store_race", "matrix_store_barrier"),
        ("merged_stores_race", "merged_stores"),
        ("named_barrier_arrive_takes_nothing_race", None),
        ("named_barrier_empty_too_early_race", None),
        ("named_barrier_other_pair_race", None),
        ("shared_dynamic_race", "shared_dynamic_barrier"),
        ("shared_second_round_race", "shared_second_round_barrier"),
        ("shared_warps_read_write_race", "shared_warps_read_write_barrier"),
        ("tcgen05_alloc_no_barrier_race", "tcgen05_alloc_barrier"),
        ("warp_bins_other_warp_race", None),
        ("warp_tree_sum_race", "warp_tree_sum"),
        ("wgmma_refill_other_warpgroup_race", None),
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


# Not asked for: they need an algorithm, atomics, a wait or an order of copies, or one size of access.
OTHERS = {
    "update": [
        "atomic_byte_flag_neighbour_race", "atomic_bytes_race", "atomic_halves_race",
        "atomic_mixed_size_race", "cas_changes_bytes_race", "cas_loop_bytes_race",
        "equal_wide_values_race", "flag_half_read_whole_race", "global_overlap_race", "global_vector_race",
        "unequal_wide_values_race", "vector_used_element_race", "word_used_byte_race",
        "branch_paths_race", "cluster_remote_write_race", "global_blocks_read_write_race",
        "global_blocks_write_race", "global_lanes_write_race", "global_warps_write_race",
        "shared_lanes_write_race", "shared_warps_write_race", "heap_shared_race",
        "grid_sync_once_race",
    ],
    "atomic": [
        "atomic_and_plain_read_race", "atomic_and_plain_write_race", "try_lock_fallback_race",
    ],
    "copy": [
        "async_store_barrier_race", "async_store_own_read_race",
        "attention_free_early_race", "attention_no_proxy_fence_race",
        "bulk_load_no_proxy_fence_race", "bulk_load_no_wait_race",
        "bulk_store_byte_mask_race", "bulk_store_no_proxy_fence_race", "bulk_store_read_wait_only_race",
        "bulk_store_source_overwritten_race", "cancel_no_proxy_fence_race", "cancel_no_wait_race",
        "cp_async_barrier_no_wait_race",
        "cp_async_mbarrier_plain_arrive_race", "cp_async_no_wait_race",
        "cp_async_second_group_race", "cp_async_source_overwritten_race", "tensor_add_read_race",
        "tensor_load_edge_race", "tensor_load_multicast_no_wait_race", "tensor_load_no_wait_race",
        "tensor_load_pixels_race", "tensor_load_refill_race", "tensor_store_lanes_differ_race",
        "tensor_store_no_proxy_fence_race", "tensor_store_read_wait_only_race",
        "tensor_store_two_warps_race", "wgmma_no_proxy_fence_race",
        "warpgroup_pipeline_no_proxy_fence_race", "wgmma_refill_before_wait_race",
        "wgmma_sparse_refill_race", "wgmma_wait_too_lax_race", "tensormap_changed_too_early_race",
        "tcgen05_commit_too_early_race", "tcgen05_copy_refill_before_wait_race",
        "tcgen05_no_commit_race", "tcgen05_no_proxy_fence_race", "tcgen05_refill_before_wait_race",
        "tensormap_no_acquire_race", "tensormap_plain_fences_race",
    ],
    "wait": [
        "async_add_not_acquired_race", "cluster_exit_too_early_race",
        "cluster_read_before_wait_race", "cuda_barrier_block_no_wait_race",
        "cuda_barrier_device_no_wait_race", "latch_no_wait_race", "mbarrier_no_wait_race",
        "mbarrier_relaxed_arrive_race", "mbarrier_remote_arrive_block_scope_race",
        "mbarrier_remote_wait_block_scope_race", "mbarrier_stale_parity_race",
        "semaphore_after_release_race", "warpgroup_pipeline_arrival_missing_race",
        "warpgroup_pipeline_no_wait_race", "warpgroup_pipeline_refill_early_race",
        "warpgroup_pipeline_wait_too_lax_race",
    ],
    "path": ["ldg_after_barrier_race"],
    "image": [
        "surface_grid_sync_race", "texture_filter_neighbour_race", "texture_own_writes_race",
    ],
    "speculated": [
        "speculated_guard_race", "speculated_mask_race", "speculated_predicate_race",
        "speculated_select_late", "speculated_select_race",
    ],
}

# What the report says is missing, and the edits that are no less than that.
FENCES = {"fence", "order"}
ADVICE = [
    (r"__threadfence\(\) is missing", FENCES),
    (r"scope.* is too narrow", {"scope", "order"}),
    (r"__syncwarp\(\) is missing|the mask of", {"__syncwarp"}),
    (r"__syncthreads\(\) is missing|wait at is missing|one more of the kind",
     {"__syncthreads"}),
    (r"cluster\.sync\(\) is missing", {"cluster.sync"}),
    (r"must be atomic as well|atomic ones are needed|or volatile one is needed", {"order"}),
    (r"is relaxed and releases nothing", {"fence"}),
    (r"fence\.proxy\.async is missing", {"proxy"}),
    (r"copy is not waited for", {"copies"}),
    (r"cudaGridDependencySynchronize", {"launch"}),
    (r"an ordinary load is needed", {"path"}),
    # Nothing of these is an edit.
    (r"an atomic operation is needed|must be an atomic operation|accesses must be atomic|"
     r"launch of its own|a second array|one size is needed|a word of its own|it must come "
     r"before|must wait until it succeeds|one thread alone|speculated the load|does not wait|"
     r"the right phase|wgmma is not waited for|tcgen05\.\w+ is not waited for|no stream order|"
     r"two branches|two launches, one after the other", set()),
]


def what_it_is(edit):
    """The class of an edit, as ADVICE has it."""
    cuda = edit["cuda"]
    for word, name in (("__syncwarp", "__syncwarp"), ("__syncthreads", "__syncthreads"),
                       ("this_cluster", "cluster.sync"), ("fence.proxy", "proxy"),
                       ("cp.async.wait", "copies"), ("cudaGridDependency", "launch"),
                       ("ordinary load", "path"), ("memory_order", "order")):
        if word in cuda:
            return name
    return "scope" if edit["before"] else "fence"


def advised(missing):
    found = [edits for pattern, edits in ADVICE if re.search(pattern, missing)]
    if not found:
        sys.exit("the advice is not known here: %s" % missing)
    return found[0]


def advice(races, found):
    """How the edits compare with what the reports of the races say is missing."""
    said = {race["fingerprint"]: advised(race["missing"]) for race in races}
    allowed = set().union(*said.values())
    if any(what_it_is(edit) not in allowed and not edit["guess"] for edit in found["edits"]):
        return "DISAGREES"
    # What the report calls an edit must not be called more than one.
    if any(said[race["fingerprint"]] and race["why"].startswith("it needs")
           for race in found["open"]):
        return "DISAGREES"
    return "guess" if any(edit["guess"] for edit in found["edits"]) else "agrees"


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
        return "same"

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
            return [name, kind, "no", "it does not end", "-", "-", "-"], False
        if arguments.verbose:
            print(result.stderr, file=sys.stderr)
        lines = []
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        found = next((line for line in lines if line["type"] == "fix"), None)
        if found is None:
            return [name, kind, "no", "status %d" % result.returncode, "-", "-", "-"], False
        races = [line for line in lines if line["type"] == "race"]
        is_repaired = (bool(found["edits"]) and found["races_after"] == 0 and
                       found["failures_after"] == 0)
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
                 found["standing"] or "-", comparison(source, copy, twin), advice(races, found)]
        if arguments.recompile:
            cells.append(recompiled(arguments, copy, source, folder)
                         if copy and is_repaired else "-")
        return cells, is_repaired


def unlisted():
    """The suite's programs with a race within a launch that no list above has."""
    listed = {name for rows in KINDS.values() for name, _ in rows}
    listed.update(name for names in OTHERS.values() for name in names)
    racy = set()
    for folder in ("suite", "modern"):
        for path in glob.glob(os.path.join(SUITE, folder, "*.cu")):
            with open(path, encoding="utf-8") as file:
                if re.search(r"^// expect: race (inter-block|intra-block|intra-warp|use-after-exit)", file.read(),
                             re.MULTILINE):
                    racy.add(os.path.splitext(os.path.basename(path))[0])
    return sorted(racy ^ listed)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".", help="programs whose name matches it")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--seeds", type=int, default=8, help="schedules behind each answer")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--recompile", action="store_true", help="compile the repaired sources")
    parser.add_argument("--goal", type=float, default=GOAL, help="the part to be repaired")
    parser.add_argument("--others", action="store_true", help="the suite's other races")
    parser.add_argument("--missing", action="store_true", help="names programs of neither list")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--verbose", action="store_true", help="print each report")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.missing:
        names = unlisted()
        for name in names:
            print("%s: a racy program that run_fix.py does not list, or lists without there being one" % name)
        return 1 if names else 0
    programs = [(kind, name, None) for kind, names in OTHERS.items() for name in names]
    if not arguments.others:
        programs = [(kind, name, twin) for kind, rows in KINDS.items() for name, twin in rows]
    programs = [row for row in programs if re.search(arguments.pattern, row[1])]
    if not programs:
        sys.exit("no program matches %s" % arguments.pattern)
    header = ["program", "kind", "repaired", "edits, or why not", "standing", "twin", "advice"]
    header += ["recompiled"] * arguments.recompile
    print("| " + " | ".join(header) + " |\n|" + " --- |" * len(header), flush=True)
    repaired, disagree = 0, False
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for cells, is_repaired in pool.map(lambda row: repair(arguments, *row), programs):
            repaired += is_repaired
            disagree = disagree or "DISAGREES" in cells
            print("| " + " | ".join(cells) + " |", flush=True)
    print("%d of %d repaired" % (repaired, len(programs)))
    is_enough = arguments.others or repaired >= arguments.goal * len(programs)
    return 0 if is_enough and not disagree else 1


if __name__ == "__main__":
    sys.exit(main())
