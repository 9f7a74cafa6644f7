// Memory of an allocation node: it has its address from the node's making on, and is given back
// with the last graph that has the node.
#pragma once

#include "emulator/libcuda/memory/allocation.h"

namespace barracuda::emulator::driver {

class GraphMemory {
 public:
  // Null if there is no such memory; `status` says why.
  static std::shared_ptr<GraphMemory> allocate(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters,
                                               CUresult& status);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  // As at its making, with the address.
  [[nodiscard]] const CUDA_MEM_ALLOC_NODE_PARAMS& parameters() const { return parameters_; }

  [[nodiscard]] CUdeviceptr address() const { return entry_.address; }

 private:
  GraphMemory(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, const AllocationEntry& entry);

  CUDA_MEM_ALLOC_NODE_PARAMS parameters_;
  std::vector<CUmemAccessDesc> access_;
  AllocationEntry entry_;
};

}  // namespace barracuda::emulator::driver
