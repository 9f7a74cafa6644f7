// User objects: what a program wants destroyed when the last graph that uses it is gone.
#pragma once

#include <mutex>

#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {

class Graph;

struct UserObject {
  CUhostFn destroy = nullptr;
  void* data = nullptr;
  std::mutex mutex;
  unsigned references = 0;
};

// What a graph that goes held, and what a copy of a graph holds as well.
void release_user_objects(Graph& graph);
void retain_user_objects(Graph& copy, const Graph& original);

}  // namespace barracuda::emulator::driver
