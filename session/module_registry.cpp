#include "session/module_registry.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "base/strong_id.h"
#include "session/split_image.h"
#include "session/uninstrumented_kernels.h"

namespace barracuda::session {
namespace {

Hash128 hash_of(const ImageSource& source) {
  Hash128 hash = hash128(source.reason);
  for (const std::string& unit : source.units) {
    const Hash128 part = hash128(unit, hash.low);
    hash = {.high = hash.high ^ part.high, .low = part.low};
  }
  return hash;
}

}  // namespace

detector::Dim3 KernelBinding::cluster(const std::optional<detector::Dim3>& at_launch) const {
  if (at_launch) {
    return *at_launch;
  }
  const auto& compiled = module->image->clusters;
  const auto found = compiled.find(name);
  return found == compiled.end() ? detector::Dim3{} : found->second;
}

std::string KernelBinding::reason() const {
  if (!module->instrumented) {
    return module->reason;
  }
  if (!refusal.empty()) {
    return refusal;
  }
  return kernel == nullptr ? "its PTX is not known" : kernel->reason;
}

ModuleRegistry::ModuleRegistry(PtxChanges changes, const ptx::InstrumentOptions& options,
                               std::size_t split_from)
    : options_(options), split_from_(split_from), changes_(std::move(changes)) {}

const ProgramImage& ModuleRegistry::prepare(const ImageSource& source, ptx::SiteTable& added) {
  const Hash128 key = hash_of(source);
  const HeldLock one_at_a_time(instrument_mutex_);
  ptx::InstrumentOptions options = options_;
  {
    const HeldLock lock(mutex_);
    if (const auto known = images_.find(key); known != images_.end()) {
      return *known->second;
    }
    options.first_site = wire::SiteId{static_cast<std::uint32_t>(sites_.size())};
  }
  ASSERT(added.empty());
  auto made = std::make_unique<ProgramImage>(instrument_image(source, options, changes_, added));
  ASSERT(made->first_site == options.first_site && made->site_count == added.size());
  ASSERT(added.empty() ||
         (added.front().id == made->first_site &&
          index_of(added.back().id) + 1 == index_of(made->first_site) + made->site_count));
  if (!made->instrumented()) {
    log(Folder::kSession, LogLevel::kInfo, "a module is loaded unchanged: %s",
        made->reason.c_str());
  } else {
    made->uninstrumented = std::make_shared<const UninstrumentedKernels>(source.units);
    if (split_from_ > 0) {
      made->split = SplitImage::make(*made, split_from_);
    }
  }
  const HeldLock lock(mutex_);
  ptx::SiteTable& sites = sites_.own();
  ASSERT(sites.size() == index_of(options.first_site));  // nobody else has added any
  sites.insert(sites.end(), added.begin(), added.end());
  return *images_.emplace(key, std::move(made)).first->second;
}

const ProgramImage& ModuleRegistry::unreadable(const std::string& reason) {
  const HeldLock lock(mutex_);
  std::unique_ptr<ProgramImage>& image = unreadable_[reason];
  if (image == nullptr) {
    image = std::make_unique<ProgramImage>();
    image->reason = reason;
  }
  return *image;
}

void ModuleRegistry::loaded(Handle handle, bool is_library, const ProgramImage& image,
                            const std::string& refusal, const std::string& owner, Loading loading) {
  auto module = std::make_shared<LoadedModule>();
  module->image = &image;
  module->instrumented = image.instrumented() && refusal.empty();
  module->reason = refusal.empty() ? image.reason : refusal;
  module->handle = handle;
  module->is_library = is_library;
  module->is_split = loading == Loading::kBase && module->instrumented;
  module->owner = owner;
  const HeldLock lock(mutex_);
  modules_[handle] = std::move(module);
}

void ModuleRegistry::module_of_library(Handle module, Handle library) {
  const HeldLock lock(mutex_);
  if (const auto known = modules_.find(library); known != modules_.end()) {
    modules_[module] = known->second;
  }
}

void ModuleRegistry::kernel_found(Handle owner, std::string_view name, Handle function,
                                  const LoadedPart& part, const std::string& refusal) {
  const HeldLock lock(mutex_);
  const auto module = modules_.find(owner);
  if (module == modules_.end()) {
    return;
  }
  auto binding = std::make_shared<KernelBinding>();
  binding->module = module->second;
  binding->kernel = module->second->image->find_kernel(name);
  binding->name = name;
  binding->part = part;
  binding->refusal = refusal;
  ASSERT(binding->is_valid());
  kernels_[function] = std::move(binding);
}

void ModuleRegistry::same_kernel(Handle function, Handle kernel) {
  const HeldLock lock(mutex_);
  if (const auto known = kernels_.find(kernel); known != kernels_.end()) {
    kernels_[function] = known->second;
  }
}

std::vector<Handle> ModuleRegistry::library_kernels() const {
  const HeldLock lock(mutex_);
  std::vector<Handle> kernels;
  for (const auto& [handle, binding] : kernels_) {
    if (binding->module->is_library) {
      kernels.push_back(handle);
    }
  }
  return kernels;
}

std::shared_ptr<const KernelBinding> ModuleRegistry::find(Handle function) const {
  const HeldLock lock(mutex_);
  const auto known = kernels_.find(function);
  return known == kernels_.end() ? nullptr : known->second;
}

std::shared_ptr<const LoadedModule> ModuleRegistry::find_module(Handle handle) const {
  const HeldLock lock(mutex_);
  const auto known = modules_.find(handle);
  return known == modules_.end() ? nullptr : known->second;
}

void ModuleRegistry::forget(Handle handle) {
  const HeldLock lock(mutex_);
  const auto known = modules_.find(handle);
  if (known == modules_.end()) {
    return;
  }
  const std::shared_ptr<const LoadedModule> module = known->second;
  std::erase_if(modules_, [&](const auto& entry) { return entry.second == module; });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == module; });
}

const ProgramImage* ModuleRegistry::find_image_of(std::string_view function) const {
  const HeldLock lock(mutex_);
  for (const auto& [key, image] : images_) {
    if (image->find_kernel(function) != nullptr) {
      return image.get();
    }
  }
  // A device function: the text has its definition.
  for (const auto& [key, image] : images_) {
    if (image->text.find(std::string(function) + "(") != std::string::npos) {
      return image.get();
    }
  }
  return nullptr;
}

const std::string& ModuleRegistry::loaded_text(const ProgramImage& image,
                                               std::string_view kernel) const {
  const HeldLock lock(mutex_);
  const bool is_split = std::ranges::any_of(modules_, [&](const auto& entry) {
    return entry.second->image == &image && entry.second->is_split;
  });
  if (!is_split) {
    return image.text;
  }
  const ptx::KernelPart* const part = image.split->find_part(kernel);
  return part != nullptr ? part->text : image.split->base();
}

ptx::SiteList ModuleRegistry::sites() const {
  const HeldLock lock(mutex_);
  return sites_;
}

std::vector<std::string> ModuleRegistry::unfit_changes() const {
  const HeldLock lock(mutex_);
  std::vector<std::vector<ptx::EditOutcome>> outcomes;
  outcomes.reserve(images_.size());
  for (const auto& [key, image] : images_) {
    outcomes.push_back(image->edit_outcomes);
  }
  return changes_.unfit(outcomes);
}

std::string ModuleRegistry::fence_places(const std::set<std::string>& launched) const {
  const HeldLock lock(mutex_);
  // By their sites, which is the order in which they were loaded.
  std::multimap<std::uint32_t, const ProgramImage*> in_order;
  for (const auto& [key, image] : images_) {
    if (!image->fences.places.empty()) {
      in_order.emplace(index_of(image->first_site), image.get());
    }
  }
  std::vector<ptx::ModuleFences> fences;
  for (const auto& [first, image] : in_order) {
    fences.push_back(image->fences);
  }
  return fence_places_text(fences, launched);
}

}  // namespace barracuda::session
