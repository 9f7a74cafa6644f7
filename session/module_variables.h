// Where the variables of loaded modules are. Thread-safe.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "session/allocation_table.h"
#include "session/device_driver.h"
#include "session/module_registry.h"

namespace barracuda::session {

class ModuleVariables {
 public:
  // What a kernel may access. `global`: of each of ptx::Kernel::variables; without bytes if it is
  // not known, or shared with the host.
  struct OfKernel {
    std::vector<MemoryRange> constants, global;
  };

  ModuleVariables(DeviceDriver& driver, const ModuleRegistry& modules, AllocationTable& allocations)
      : driver_(driver), modules_(modules), allocations_(allocations) {}

  // A kernel of this function's module is about to be launched: its variables have addresses now.
  // Those that the kernel may access.
  OfKernel note(Handle function);
  // The same for a kernel in a part of its own, which is to find its module's variables: without
  // this it must not be launched. False if it cannot be done.
  [[nodiscard]] bool place(Handle function);
  // For one that is launched in this kernel's place.
  [[nodiscard]] bool place(const KernelBinding& kernel, const LoadedPart& part);
  // It is about to be unloaded.
  void forget(const LoadedModule& module);
  // This context is about to go.
  void forget(Handle context);

 private:
  using Ranges = std::map<std::string, MemoryRange, std::less<>>;

  struct PlacedPart {
    const LoadedModule* module = nullptr;
    Handle part{}, context{};

    friend auto operator<=>(const PlacedPart&, const PlacedPart&) = default;
  };

  static OfKernel of_kernel(const KernelBinding& kernel, const Ranges& of_module);

  DeviceDriver& driver_;
  const ModuleRegistry& modules_;
  AllocationTable& allocations_;
  std::mutex mutex_;
  // Of the modules and contexts whose variables were noted.
  std::map<std::pair<const LoadedModule*, Handle>, Ranges> noted_;
  // The parts that know where their variables are, and the contexts.
  std::set<PlacedPart> placed_;
};

}  // namespace barracuda::session
