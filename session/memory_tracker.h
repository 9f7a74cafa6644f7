// Device memory that the program gets and gives back: what is known of its bytes is forgotten with
// it. Thread-safe.
#pragma once

#include <string>

#include "host_detector/pipeline.h"
#include "session/allocation_places.h"
#include "session/allocation_table.h"
#include "session/context_tracker.h"
#include "session/copy_tracker.h"
#include "session/device_driver.h"
#include "session/module_registry.h"

namespace barracuda::session {

class MemoryTracker {
 public:
  MemoryTracker(DeviceDriver& driver, detector::Pipeline& pipeline, AllocationTable& allocations,
                AllocationPlaces& places, ContextTracker& contexts, CopyTracker& copies)
      : driver_(driver),
        pipeline_(pipeline),
        allocations_(allocations),
        places_(places),
        contexts_(contexts),
        copies_(copies) {}

  // Memory was allocated that may not be used yet.
  void allocated(const MemoryRange& range, const std::string& description);
  // Before memory that starts at `address` is freed. Waits for the work that may still touch it.
  void before_free(std::uint64_t address);
  // The same for memory freed in the order of a stream, and after it is allocated there. Nothing is
  // waited for: what the free comes after ends with it.
  void before_stream_free(std::uint64_t address, Handle stream);
  void stream_allocated(const MemoryRange& range, Handle stream, const char* function);
  // The variables of a module, before it is unloaded. Waits as before_free().
  void before_unload(const LoadedModule& module);

 private:
  void forget(const MemoryRange& range);

  DeviceDriver& driver_;
  detector::Pipeline& pipeline_;
  AllocationTable& allocations_;
  AllocationPlaces& places_;
  ContextTracker& contexts_;
  CopyTracker& copies_;
};

}  // namespace barracuda::session
