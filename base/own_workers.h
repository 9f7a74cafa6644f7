// TBB's threads that work for the tool bear its threads' name (own_thread.h), and keep it. Those
// that TBB starts for us have it from the thread that wanted them (NamedAsOwn), also if they come
// too late for any work; this is for those that the program, which may share TBB, has started.
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include "base/own_thread.h"

namespace barracuda {

// Of one arena, which outlives it.
class OwnWorkers : public tbb::task_scheduler_observer {
 public:
  explicit OwnWorkers(tbb::task_arena& arena) : task_scheduler_observer(arena) { observe(true); }

  ~OwnWorkers() override { observe(false); }

  OwnWorkers(const OwnWorkers&) = delete;
  OwnWorkers& operator=(const OwnWorkers&) = delete;

  void on_scheduler_entry(bool is_worker) override {
    if (is_worker && !g_is_named) {
      g_is_named = true;
      name_own_thread();
    }
  }

 private:
  inline static thread_local bool g_is_named = false;
};

}  // namespace barracuda
