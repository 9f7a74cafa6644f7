// One piece of device work: what a stream runs at once, and what a node of a graph keeps.
#pragma once

#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "emulator/libcuda/calls.h"
#include "emulator/machine.h"

namespace barracuda::emulator::driver {

class Graph;
class GraphMemory;

struct KernelWork {
  CUfunction function = nullptr;
  LaunchConfig config;
  std::vector<std::byte> parameters;  // packed
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes;
};

struct CopyWork {
  CUDA_MEMCPY3D copy{};
};

struct MemsetWork {
  CUDA_MEMSET_NODE_PARAMS_v1 fill{};
};

struct HostWork {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct ChildGraphWork {
  std::shared_ptr<Graph> graph;
};

struct EmptyWork {};

struct EventRecordWork {
  CUevent event = nullptr;
};

struct EventWaitWork {
  CUevent event = nullptr;
};

struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
};

struct FreeWork {
  CUdeviceptr address = 0;
};

using Work = std::variant<KernelWork, CopyWork, MemsetWork, HostWork, ChildGraphWork, EmptyWork,
                          EventRecordWork, EventWaitWork, AllocateWork, FreeWork>;

CUgraphNodeType type_of(const Work& work);

// What is wrong with the work itself, before it runs. A kernel's is found by prepare().
CUresult check(const CopyWork& work);
CUresult check(const MemsetWork& work);
CUresult check(const Work& work);

// Runs it at once and to its end. Kernels are run in pieces (launch.h), and graphs by their nodes.
CUresult run(const CopyWork& work);
CUresult run(const MemsetWork& work);
CUresult run(const Work& work);

// Puts the work into the stream (queue.h); if the stream is being captured, the work becomes a
// node.
CUresult submit(CUstream stream, Work work);

}  // namespace barracuda::emulator::driver
