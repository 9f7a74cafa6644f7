// The options `schedule` and `seed` on a GPU, whose own scheduler takes no orders: blocks of the
// program come first if they get the numbers that the GPU starts first. And `shuffle` on both
// devices: neighbouring blocks run on multiprocessors that are not neighbours.
#pragma once

#include "base/options.h"
#include "device_logger/block_order.h"
#include "host_detector/pipeline.h"
#include "ptx/instrument.h"
#include "session/device_driver.h"

namespace barracuda::session {

// Draws an order: consecutive numbers, `window` at a time, are permuted by an affine function.
wire::BlockOrder shuffled(std::uint32_t window, std::uint64_t random);

// The emulated device has a scheduler that takes the blocks in any order: there for shuffle alone.
bool renumbers_blocks(const Options& options, const DeviceDriver& driver);

// A pure function of the options, the launch's number and its grid. The numbers of clusters are
// left alone: their blocks are known by %cluster_ctaid, too.
wire::BlockOrder block_order_of(const Options& options, const DeviceDriver& driver,
                                const ptx::Kernel& kernel, const detector::LaunchInfo& launch);

}  // namespace barracuda::session
