// The CUDA driver that this process finds, by the names of its functions: for commands that launch
// a kernel of their own and link with no driver.
#pragma once

#include <dlfcn.h>
#include <string>

#include "base/expected.h"

namespace barracuda::driver {

using Handle = void*;
using Status = int;

// The driver's functions by name, each call checked.
class Driver {
 public:
  static Expected<Driver> open() {
    const Handle library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
      return unexpected({.message = dlerror()});
    }
    return Driver(library);
  }

  template <typename... Parameters>
  Expected<void> call(const char* name, Parameters... parameters) const {
    auto* const function = reinterpret_cast<Status (*)(Parameters...)>(dlsym(library_, name));
    if (function == nullptr) {
      return unexpected({.message = std::string("the driver has no ") + name});
    }
    if (const Status status = function(parameters...); status != 0) {
      return unexpected({.message = std::string(name) + ": " + describe(status)});
    }
    return {};
  }

 private:
  explicit Driver(Handle library) : library_(library) {}

  [[nodiscard]] std::string describe(Status status) const {
    const char* text = nullptr;
    auto* const function =
        reinterpret_cast<Status (*)(Status, const char**)>(dlsym(library_, "cuGetErrorString"));
    const bool known = function != nullptr && function(status, &text) == 0 && text != nullptr;
    return known ? text : "error " + std::to_string(status);
  }

  Handle library_;
};

// Runs the calls in turn until one fails.
template <typename... Calls>
Expected<void> in_turn(const Calls&... calls) {
  Expected<void> result;
  (void)((result = calls(), result.has_value()) && ...);
  return result;
}

// Of a module that the first device keeps until the process ends; its context is the current one.
inline Expected<Handle> load_kernel(const Driver& driver, const std::string& ptx,
                                    const std::string& entry) {
  Handle context = nullptr;
  Handle module = nullptr;
  Handle function = nullptr;
  const auto loaded =
      in_turn([&] { return driver.call("cuInit", 0U); },
              [&] { return driver.call("cuDevicePrimaryCtxRetain", &context, 0); },
              [&] { return driver.call("cuCtxSetCurrent", context); },
              [&] { return driver.call("cuModuleLoadData", &module, ptx.c_str()); },
              [&] { return driver.call("cuModuleGetFunction", &function, module, entry.c_str()); });
  if (!loaded) {
    return unexpected(loaded.error());
  }
  return function;
}

}  // namespace barracuda::driver
