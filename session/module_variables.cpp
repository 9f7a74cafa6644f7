#include "session/module_variables.h"

#include <span>

#include "report/allocation_place.h"
#include "report/symbol_name.h"

namespace barracuda::session {

ModuleVariables::OfKernel ModuleVariables::note(Handle function) {
  const auto kernel = modules_.find(function);
  if (kernel == nullptr || !kernel->module->instrumented) {
    return {};
  }
  const LoadedModule& module = *kernel->module;
  const std::pair key{&module, driver_.current_context()};
  {
    const std::lock_guard lock(mutex_);
    const auto [noted, is_new] = noted_.try_emplace(key);
    if (!is_new) {
      return of_kernel(*kernel, noted->second);
    }
  }
  Ranges found;
  for (const DeviceVariable& variable : module.image->variables) {
    const auto range = driver_.variable(module.handle, module.is_library, variable.name);
    if (!range) {
      continue;
    }
    const char* const kind = variable.is_constant  ? "__constant__"
                             : variable.is_managed ? "__managed__"
                                                   : "__device__";
    allocations_.add_variable(range->address, range->bytes,
                              report::describe_variable(kind, report::demangle(variable.name)));
    if (!variable.is_managed) {
      found.emplace(variable.name, *range);
    }
  }
  const std::lock_guard lock(mutex_);
  return of_kernel(*kernel, noted_[key] = std::move(found));
}

bool ModuleVariables::place(Handle function) {
  const auto kernel = modules_.find(function);
  return kernel == nullptr || kernel->part.handle == Handle{} || place(*kernel, kernel->part);
}

bool ModuleVariables::place(const KernelBinding& kernel, const LoadedPart& part) {
  if (part.part->variables.empty()) {
    return true;
  }
  const PlacedPart key{
      .module = kernel.module.get(), .part = part.handle, .context = driver_.current_context()};
  {
    const std::lock_guard lock(mutex_);
    if (placed_.contains(key)) {
      return true;
    }
  }
  std::vector<std::uint64_t> addresses;
  for (const std::string& name : part.part->variables) {
    const auto range = driver_.variable(kernel.module->handle, kernel.module->is_library, name);
    if (!range) {
      return false;
    }
    addresses.push_back(range->address);
  }
  const auto table = driver_.variable(part.handle, part.is_library, ptx::kAddressTable);
  const auto bytes = std::as_bytes(std::span(addresses));
  if (!table || table->bytes != bytes.size() ||
      !driver_.write(DevicePointer{table->address}, bytes)) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  placed_.insert(key);
  return true;
}

ModuleVariables::OfKernel ModuleVariables::of_kernel(const KernelBinding& kernel,
                                                     const Ranges& of_module) {
  const auto ranges_of = [&](const std::vector<std::string>& names) {
    std::vector<MemoryRange> ranges;
    for (const std::string& name : names) {
      const auto known = of_module.find(name);
      ranges.push_back(known == of_module.end() ? MemoryRange{} : known->second);
    }
    return ranges;
  };
  if (kernel.kernel == nullptr) {
    return {};
  }
  OfKernel found{.constants = ranges_of(kernel.kernel->constants),
                 .global = ranges_of(kernel.kernel->variables)};
  std::erase_if(found.constants, [](const MemoryRange& range) { return range.bytes == 0; });
  return found;
}

void ModuleVariables::forget(const LoadedModule& module) {
  const std::lock_guard lock(mutex_);
  std::erase_if(noted_, [&](const auto& entry) { return entry.first.first == &module; });
  std::erase_if(placed_, [&](const auto& entry) { return entry.module == &module; });
}

void ModuleVariables::forget(Handle context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(noted_, [&](const auto& entry) { return entry.first.second == context; });
  std::erase_if(placed_, [&](const auto& entry) { return entry.context == context; });
}

}  // namespace barracuda::session
