#include "emulator/libcuda/stream/work.h"

#include "emulator/libcuda/event/event.h"
#include "emulator/libcuda/graph/graph.h"
#include "emulator/libcuda/stream/capture.h"
#include "emulator/libcuda/stream/queue.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

CUresult check_event(CUevent event) {
  return is_event(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

struct Checker {
  CUresult operator()(const CopyWork& work) const { return check(work); }

  CUresult operator()(const MemsetWork& work) const { return check(work); }

  CUresult operator()(const HostWork& work) const {
    return work.function == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  }

  CUresult operator()(const EventRecordWork& work) const { return check_event(work.event); }

  CUresult operator()(const EventWaitWork& work) const { return check_event(work.event); }

  template <typename Other>
  CUresult operator()(const Other& /*work*/) const {
    return CUDA_SUCCESS;
  }
};

struct Runner {
  CUresult operator()(const CopyWork& work) const { return run(work); }

  CUresult operator()(const MemsetWork& work) const { return run(work); }

  CUresult operator()(const HostWork& work) const {
    work.function(work.data);
    return CUDA_SUCCESS;
  }

  CUresult operator()(const EventRecordWork& work) const { return record_event(work.event); }

  // All that it waits for is over, and a graph's memory is there as long as the graph.
  template <typename Other>
  CUresult operator()(const Other& /*work*/) const {
    static_assert(std::is_same_v<Other, EmptyWork> || std::is_same_v<Other, EventWaitWork> ||
                  std::is_same_v<Other, AllocateWork> || std::is_same_v<Other, FreeWork>);
    return CUDA_SUCCESS;
  }

  // In pieces and by their nodes: the queue's.
  CUresult operator()(const KernelWork& /*work*/) const { return CUDA_ERROR_UNKNOWN; }

  CUresult operator()(const ChildGraphWork& /*work*/) const { return CUDA_ERROR_UNKNOWN; }
};

}  // namespace

CUgraphNodeType type_of(const Work& work) {
  constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_HOST,         CU_GRAPH_NODE_TYPE_GRAPH,      CU_GRAPH_NODE_TYPE_EMPTY,
      CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
      CU_GRAPH_NODE_TYPE_MEM_FREE};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

CUresult check(const Work& work) {
  return std::visit(Checker{}, work);
}

CUresult run(const Work& work) {
  return std::visit(Runner{}, work);
}

CUresult submit(CUstream handle, Work work) {
  if (const std::shared_ptr<Stream> stream = find_stream(handle);
      stream != nullptr && stream->is_capturing) {
    return capture(*stream, std::move(work));
  }
  std::shared_ptr<Stream> stream;
  const CUresult status = find_for_work(handle, stream);
  return status == CUDA_SUCCESS ? enqueue(stream, std::move(work)) : status;
}

}  // namespace barracuda::emulator::driver
