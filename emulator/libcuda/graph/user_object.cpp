#include "emulator/libcuda/graph/user_object.h"

#include "base/early_return.h"
#include "emulator/libcuda/graph/graph.h"

namespace barracuda::emulator::driver {
namespace {

HandleTable<UserObject, CUuserObject>& user_objects() {
  static auto* const instance = new HandleTable<UserObject, CUuserObject>;
  return *instance;
}

void retain(UserObject& object, unsigned count) {
  const std::lock_guard lock(object.mutex);
  object.references += count;
}

// The last reference destroys the object.
CUresult release(UserObject& object, unsigned count) {
  {
    const std::lock_guard lock(object.mutex);
    RETURN_IF(count > object.references, CUDA_ERROR_INVALID_VALUE);
    object.references -= count;
    if (object.references != 0) {
      return CUDA_SUCCESS;
    }
  }
  const auto last =
      user_objects().extract(HandleTable<UserObject, CUuserObject>::handle_of(object));
  if (last != nullptr) {
    last->destroy(last->data);
  }
  return CUDA_SUCCESS;
}

}  // namespace

void release_user_objects(Graph& graph) {
  for (const auto& [object, count] : graph.user_objects) {
    release(*object, count);
  }
  graph.user_objects.clear();
}

void retain_user_objects(Graph& copy, const Graph& original) {
  copy.user_objects = original.user_objects;
  for (const auto& [object, count] : copy.user_objects) {
    retain(*object, count);
  }
}

CUresult cuUserObjectCreate(CUuserObject* result, void* data, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  RETURN_IF(result == nullptr || destroy == nullptr || count == 0 ||
                flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
            CUDA_ERROR_INVALID_VALUE);
  auto object = std::make_shared<UserObject>();
  object->destroy = destroy;
  object->data = data;
  object->references = count;
  *result = user_objects().insert(std::move(object));
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  const std::shared_ptr<UserObject> object = user_objects().find(handle);
  RETURN_IF(object == nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  retain(*object, count);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  const std::shared_ptr<UserObject> object = user_objects().find(handle);
  return object == nullptr || count == 0 ? CUDA_ERROR_INVALID_VALUE : release(*object, count);
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object_handle, unsigned count,
                                 unsigned flags) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  const std::shared_ptr<UserObject> object = user_objects().find(object_handle);
  if (graph == nullptr || object == nullptr || count == 0 ||
      (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) {
    retain(*object, count);  // else the caller's references are the graph's now
  }
  graph->user_objects[object] += count;
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object_handle, unsigned count) {
  const std::shared_ptr<Graph> graph = find_graph(handle);
  const std::shared_ptr<UserObject> object = user_objects().find(object_handle);
  RETURN_IF(graph == nullptr || object == nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  const auto held = graph->user_objects.find(object);
  RETURN_IF(held == graph->user_objects.end() || held->second < count, CUDA_ERROR_INVALID_VALUE);
  held->second -= count;
  if (held->second == 0) {
    graph->user_objects.erase(held);
  }
  return release(*object, count);
}

}  // namespace barracuda::emulator::driver
