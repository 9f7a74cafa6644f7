// What the program loaded and which handle is which kernel. Kernels are known by handle, never by
// name: two modules may hold the same name. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/options.h"
#include "ptx/site_list.h"
#include "ptx/split.h"
#include "session/device_driver.h"
#include "session/program_image.h"
#include "session/ptx_changes.h"

namespace barracuda::session {

// One load of an image. The driver may have refused the instrumented text of an image that it takes
// in another context, so this is kept for each load.
struct LoadedModule {
  const ProgramImage* image = nullptr;
  bool instrumented = false;
  std::string reason;  // if not
  Handle handle{};
  bool is_library = false;
  std::string owner;      // file name of the library that brought it; empty: the program's own
  bool is_split = false;  // what was loaded is the base of image->split
};

// A module or library of its own that holds one kernel of a module in parts.
struct LoadedPart {
  Handle handle{};  // 0: the kernel is in its module
  bool is_library = false;
  const ptx::KernelPart* part = nullptr;
};

// What a CUfunction or CUkernel stands for.
struct KernelBinding {
  std::shared_ptr<const LoadedModule> module;
  const ptx::Kernel* kernel = nullptr;  // null: the module's PTX is not known
  std::string name;
  LoadedPart part;
  std::string refusal;  // of its part's instrumented text
  // Bytes of dynamic shared memory that the program has set it up for, where the tool's word left
  // less; 0: it got what it asked for.
  mutable std::atomic<std::uint32_t> asked_shared = 0;

  // Launches take the hidden parameter.
  [[nodiscard]] bool instrumented() const {
    return module->instrumented && refusal.empty() && kernel != nullptr && kernel->instrumented;
  }

  // The CTAs of its clusters: as given at the launch, else as compiled, else one.
  [[nodiscard]] detector::Dim3 cluster(const std::optional<detector::Dim3>& at_launch) const;

  // So are they where there is nothing to log.
  [[nodiscard]] bool checked() const {
    return instrumented() || (kernel != nullptr && kernel->is_empty);
  }

  [[nodiscard]] std::string reason() const;

  // It has a module with an image, and is the kernel of its name there.
  [[nodiscard]] bool is_valid() const {
    return module != nullptr && module->image != nullptr &&
           (kernel == nullptr || kernel->name == name) &&
           (!module->instrumented || module->image->instrumented());
  }
};

class ModuleRegistry {
 public:
  // `options`: but for the first site, which depends on what was loaded before.
  // A module of at least `split_from` kernels is loaded in parts; 0: none is.
  ModuleRegistry(PtxChanges changes, const ptx::InstrumentOptions& options, std::size_t split_from);

  // The image as this device gets it. Instruments each content once. `added` gets the sites of an
  // image that was instrumented now, else it stays empty.
  const ProgramImage& prepare(const ImageSource& source, ptx::SiteTable& added);
  // For an image whose bytes could not be read: loaded as it is.
  const ProgramImage& unreadable(const std::string& reason);

  enum class Loading : std::uint8_t { kWhole, kBase };
  void loaded(Handle handle, bool is_library, const ProgramImage& image, const std::string& refusal,
              const std::string& owner, Loading loading = Loading::kWhole);
  // cuLibraryGetModule: the module of a library in one context.
  void module_of_library(Handle module, Handle library);
  void kernel_found(Handle owner, std::string_view name, Handle function,
                    const LoadedPart& part = {}, const std::string& refusal = {});
  // cuKernelGetFunction: the same kernel under another handle.
  void same_kernel(Handle function, Handle kernel);
  // The handles of library kernels: what may have other handles, one in each context.
  [[nodiscard]] std::vector<Handle> library_kernels() const;
  // Null if the handle was never seen.
  [[nodiscard]] std::shared_ptr<const KernelBinding> find(Handle function) const;
  [[nodiscard]] std::shared_ptr<const LoadedModule> find_module(Handle handle) const;
  // Unloaded: its handles may come back with another meaning.
  void forget(Handle handle);

  // The image that defines a function or kernel of that name; null if none.
  [[nodiscard]] const ProgramImage* find_image_of(std::string_view function) const;
  // What the driver got to load for a kernel of the image.
  [[nodiscard]] const std::string& loaded_text(const ProgramImage& image,
                                               std::string_view kernel) const;
  [[nodiscard]] ptx::SiteList sites() const;
  // The user's changes of the PTX that no image took, a sentence each.
  [[nodiscard]] std::vector<std::string> unfit_changes() const;
  // fence_places_text() of all images.
  [[nodiscard]] std::string fence_places(const std::set<std::string>& launched) const;

 private:
  const ptx::InstrumentOptions options_;
  const std::size_t split_from_;  // kernels of a module; 0: none is split
  const PtxChanges changes_;
  mutable std::mutex mutex_;
  std::mutex instrument_mutex_;  // site ids are handed out one image after another
  std::map<Hash128, std::unique_ptr<ProgramImage>> images_;  // each has the changes in it
  std::map<std::string, std::unique_ptr<ProgramImage>> unreadable_;
  ptx::SiteList sites_;
  std::unordered_map<Handle, std::shared_ptr<const LoadedModule>> modules_;
  std::unordered_map<Handle, std::shared_ptr<const KernelBinding>> kernels_;
};

}  // namespace barracuda::session
