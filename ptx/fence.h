// A fence of all memory that a thread shares, as edits put one in and as places have one behind
// them.
#pragma once

#include "device_logger/site_info.h"

namespace barracuda::ptx {

// Written as PTX has it for the module's target: before sm_70 there is membar alone, which is no
// weaker than what is asked for, and before sm_90 no cluster scope, for which gpu then stands.
struct Fence {
  wire::MemoryOrder order = wire::MemoryOrder::kSeqCst;  // or kAcqRel
  wire::Scope scope = wire::Scope::kGpu;

  friend bool operator==(const Fence&, const Fence&) = default;
};

}  // namespace barracuda::ptx
