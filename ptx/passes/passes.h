// The passes of the instrumentation, in the order in which they run. Each is a file of this folder,
// and reads and completes what Program holds (ptx/analysis/program.h).
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

// First pass: the Effect of every instruction.
namespace classify_statements {
Expected<void> run(Program& program);
}  // namespace classify_statements

// Who calls whom, which functions synchronise, and so which are numbered. Needs the effects.
namespace call_graph {
Expected<void> run(Program& program);
}  // namespace call_graph

// Lists the kernels and gives each, where there is room, the parameter that brings the launch
// descriptor.
namespace hidden_parameter {
Expected<void> run(Program& program);
}  // namespace hidden_parameter

// Plans a site for every instruction that is logged; names what could touch memory and is not.
namespace collect_sites {
Expected<void> run(Program& program);
}  // namespace collect_sites

// Finds flag stores and polls (RACE_RULES section 2) among the sites and makes them numbered.
namespace sync_idioms {
Expected<void> run(Program& program);
}  // namespace sync_idioms

// Which accesses are acquires and releases by the rules of BARRACUDA (PLDI 2017, section 3.1):
// those that a fence comes before or after in the code. For model=paper alone; after sync_idioms.
namespace fence_neighbours {
Expected<void> run(Program& program);
}  // namespace fence_neighbours

// Loads are logged for what is made of them: the bytes that reach something, in the lanes in which
// they do. What a compiler reads beyond what the source does (a vector for three of its elements, a
// word for a byte, a value for all lanes that one of them uses) is no access
// (docs/decisions/speculated-loads.md).
namespace useful_reads {
Expected<void> run(Program& program);
}  // namespace useful_reads

// Drops the hook of accesses that an earlier one in their basic block stands for (RACE_RULES
// section 4).
namespace reduce_in_block {
Expected<void> run(Program& program);
}  // namespace reduce_in_block

// Finds loops that do nothing but wait for what a load finds: of them only the last turn is logged,
// for the thread makes nothing of what the others found. Not for model=paper. After
// reduce_in_block.
namespace waiting_loops {
Expected<void> run(Program& program);
}  // namespace waiting_loops

// Finds kernels in which nothing orders threads of different blocks. Only then may what is numbered
// be logged no more, once it has raced often enough. After number_sites.
namespace narrow_kernels {
Expected<void> run(Program& program);
}  // namespace narrow_kernels

// Finds registers of asynchronous products that are touched too early. Needs the effects.
namespace async_registers {
Expected<void> run(Program& program);
}  // namespace async_registers

// Where the lanes of a warp part and meet: sites at branches that they may take apart and at their
// post-dominators. For model=paper alone; needs all other sites.
namespace branches {
Expected<void> run(Program& program);
}  // namespace branches

// Marks the loads and stores of updates in place: a load, and a store to the same address of what
// was made of the value, or that was decided by it. Only for what reports advise.
namespace updates {
Expected<void> run(Program& program);
}  // namespace updates

// Which loops a site stands in, and whether all threads of a block come by. Only for what reports
// advise, too.
namespace surroundings {
Expected<void> run(Program& program);
}  // namespace surroundings

// Gives every planned site that is logged its id and its row of the site table.
namespace number_sites {
Expected<void> run(Program& program);
}  // namespace number_sites

// What each kernel accesses of global memory, and by which addresses, as far as that can be told
// before a launch. After number_sites.
namespace global_accesses {
Expected<void> run(Program& program);
}  // namespace global_accesses

// Finds kernels in which nothing but barriers of the whole block orders threads, and no function
// but the kernel itself is logged: there barriers and exits are logged by block
// (device_logger/block_events.h), and accesses to shared memory only where they conflict
// (device_logger/shared_states.h). After number_sites.
namespace barrier_intervals {
Expected<void> run(Program& program);
}  // namespace barrier_intervals

// In the kernels of barrier_intervals, what follows where all threads of a block come to a barrier
// together, as the text says. Loads of shared memory between two of them between which nobody
// writes it race with nothing: threads go round their hooks, unless one has left. Where every
// barrier is so, nobody leaves before others wait, and one thread logs for the block
// (device_logger/block_events.h): the barriers of other kernels as well, if nothing but they and
// __syncwarp() counts who has come.
namespace uniform_barriers {
Expected<void> run(Program& program);
}  // namespace uniform_barriers

// Finds loads that stand one behind the other, as where a loop was unrolled: one hook logs them
// all. After uniform_barriers.
namespace load_batches {
Expected<void> run(Program& program);
}  // namespace load_batches

// Writes the forms in which kernels are launched where nothing is logged: guarded ones of those
// that do nothing but plain accesses with a shortcut each, plain ones of steady kernels. Reads the
// statements as they were, headers included; needs all sites, with numbers and shortcuts.
namespace kernel_forms {
Expected<void> run(Program& program);
}  // namespace kernel_forms

// Inserts the calls of the logger.
namespace insert_hooks {
Expected<void> run(Program& program);
}  // namespace insert_hooks

// What the lanes of a warp do together (votes, shuffles, matches) goes into functions of its own,
// with which NVIDIA's compiler makes right code behind hooks, and soon
// (docs/decisions/jit-cache.md). After insert_hooks: the statements are the program's until then.
namespace warp_collectives {
Expected<void> run(Program& program);
}  // namespace warp_collectives

// In place of what finds, numbers and hooks sites, if that is asked for: stores become calls that
// may keep them back, loads see what is kept back, and what orders memory lets it out
// (docs/decisions/rewritten-stores.md).
namespace delay_stores {
Expected<void> run(Program& program);
}  // namespace delay_stores

// Lets a launch choose which block of the program each block of the device is: what reads %ctaid
// gets the number that the logger makes of it (device_logger/block_order.h). Under stress also
// which warp of its block each warp is, and how large the grid is
// (device_logger/stressed_launch.h).
namespace block_numbers {
Expected<void> run(Program& program);
}  // namespace block_numbers

// Under stress: blocks that are none of the program's disturb memory and end.
namespace extra_blocks {
Expected<void> run(Program& program);
}  // namespace extra_blocks

// One warp of each launch tells where the shared variables of its kernel lie, if that is asked
// for (docs/decisions/shared-places.md). After all that reads the sites, whose table it adds to.
namespace shared_places {
Expected<void> run(Program& program);
}  // namespace shared_places

// Aligns shared variables as they were mostly aligned by the order in which they lay. Not for the
// emulated device, which keeps the order. After shared_places.
namespace shared_alignment {
Expected<void> run(Program& program);
}  // namespace shared_alignment

// At the entries, before all else: the launch descriptor goes to where the hooks find it.
namespace store_descriptor {
Expected<void> run(Program& program);
}  // namespace store_descriptor

// Adds the functions of the device logger that the hooks call.
namespace add_logger {
Expected<void> run(Program& program);
}  // namespace add_logger

}  // namespace barracuda::ptx
