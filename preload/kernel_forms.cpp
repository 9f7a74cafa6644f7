#include "preload/kernel_forms.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/held_lock.h"
#include "preload/hook.h"
#include "preload/machine_code.h"
#include "preload/text_load.h"
#include "session/uninstrumented_kernels.h"

namespace barracuda::preload {
namespace {

using session::KernelBinding;

// A compilation takes some 50 ms of a core, for which a GPU runs so many threads of a kernel that
// only copies some hundred times, and the logging form most of that. With so many more a program
// waits for a plain form, which does away with far more than a guarded one does.
constexpr std::uint64_t kWorthwhileThreads = std::uint64_t{1} << 22;
constexpr std::uint64_t kWorthWaiting = std::uint64_t{1} << 24;
// More, static memory with dynamic, has to be asked for, and is for the kernel that the program
// knows of (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).
constexpr std::uint32_t kMostSharedBytes = 48 * 1024;

enum class Kind : std::uint8_t { kGuarded, kPlain, kUninstrumented };

struct Form {
  std::shared_ptr<const KernelBinding> binding;  // whose address is the key: no other gets it
  Kind kind{};
  std::uint64_t threads = 0, launches = 0;  // so far
  bool was_none = false;                    // guarded: of a launch that has to log
  bool is_begun = false, is_tried = false;  // to be compiled, to be loaded
  const ptx::KernelPart* part = nullptr;    // of one without instrumentation
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  std::uint64_t most_threads = 0;  // of a block: as many as have registers

  [[nodiscard]] const std::string& text() const {
    return kind == Kind::kGuarded ? binding->kernel->guarded
           : kind == Kind::kPlain ? binding->kernel->plain
                                  : part->text;
  }

  [[nodiscard]] bool is_waited_for() const {
    return kind == Kind::kUninstrumented ||
           (kind == Kind::kPlain && launches > 1 && threads >= kWorthWaiting);
  }
};

class Forms {
 public:
  CUfunction find(const HookScope& scope, const std::shared_ptr<const KernelBinding>& binding,
                  Kind kind, const session::LaunchRequest& request) {
    const HeldLock lock(mutex_);
    Form& form = forms_[{binding.get(), kind}];
    form.binding = binding;
    form.kind = kind;
    const std::uint64_t block = request.block.volume();
    form.threads += request.grid.volume() * block;
    ++form.launches;
    if (!form.is_tried && is_at_hand(form)) {
      form.is_tried = true;
      load(scope, form);
    }
    // A kernel may be launched as a function.
    return block <= form.most_threads ? reinterpret_cast<CUfunction>(form.kernel) : nullptr;
  }

  // Ready to be launched, with as much shared memory as the program asked for.
  CUfunction find_uninstrumented(const HookScope& scope, session::Session& session,
                                 const std::shared_ptr<const KernelBinding>& binding,
                                 const session::LaunchRequest& request) {
    const auto* const part = binding->module->image->uninstrumented->find(binding->name);
    if (part == nullptr) {
      return nullptr;
    }
    const HeldLock lock(mutex_);
    Form& form = forms_[{binding.get(), Kind::kUninstrumented}];
    form.part = part;
    form.binding = binding;
    form.kind = Kind::kUninstrumented;
    if (!std::exchange(form.is_tried, true)) {
      load(scope, form);
    }
    const bool is_ready =
        form.kernel != nullptr && set_up(form.kernel, binding->asked_shared) &&
        session.variables().place(
            *binding, {.handle = handle_of(form.library), .is_library = true, .part = part});
    return is_ready && request.block.volume() <= form.most_threads
               ? reinterpret_cast<CUfunction>(form.kernel)
               : nullptr;
  }

  bool suffices(const KernelBinding* binding) {
    const HeldLock lock(mutex_);
    const auto guarded = forms_.find({binding, Kind::kGuarded});
    return guarded != forms_.end() && !guarded->second.was_none;
  }

  void was_none(const KernelBinding* binding) {
    const HeldLock lock(mutex_);
    if (const auto guarded = forms_.find({binding, Kind::kGuarded}); guarded != forms_.end()) {
      guarded->second.was_none = true;
    }
  }

  void unload(session::Handle module) {
    static const auto unload_library = DRIVER_FUNCTION(cuLibraryUnload);
    const HeldLock lock(mutex_);
    std::erase_if(forms_, [&](const auto& entry) {
      const Form& form = entry.second;
      const bool goes = form.binding->module->handle == module;
      if (goes && form.library != nullptr) {
        unload_library(form.library);
      }
      return goes;
    });
  }

 private:
  static JitOptions no_options() { return {nullptr, nullptr, 0}; }

  // The driver compiles when it loads, and keeps what it made; the emulated device reads the text.
  static bool is_at_hand(Form& form) {
    if (!compiles_here() || form.is_waited_for()) {
      return true;
    }
    if (!form.is_begun && form.threads >= kWorthwhileThreads) {
      form.is_begun = true;
      compile_ahead({{form.text()}}, no_options(), true);
    }
    return form.is_begun && has_machine_code(form.text(), no_options(), true);
  }

  static void load(const HookScope& scope, Form& form) {
    static const auto load_library = DRIVER_FUNCTION(cuLibraryLoadData);
    static const auto get_kernel = DRIVER_FUNCTION(cuLibraryGetKernel);
    CUlibrary library = nullptr;
    const TextLoad loaded = load_text(
        scope, form.text(), no_options(), true, [&library](const void* image, JitOptions& options) {
          return load_library(&library, image, options.names(), options.values(), options.count(),
                              nullptr, nullptr, 0);
        });
    if (loaded.status == CUDA_SUCCESS) {
      form.library = library;
      if (get_kernel(&form.kernel, library, form.binding->name.c_str()) == CUDA_SUCCESS) {
        form.most_threads = most_threads_of(form.kernel);
      }
    }
  }

  static bool set_up(CUkernel kernel, std::uint32_t shared_bytes) {
    static const auto set = DRIVER_FUNCTION(cuKernelSetAttribute);
    static const auto current_device = DRIVER_FUNCTION(cuCtxGetDevice);
    CUdevice device = 0;
    return current_device(&device) == CUDA_SUCCESS &&
           set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared_bytes),
               kernel, device) == CUDA_SUCCESS;
  }

  // The program's machine code may have been compiled for fewer registers than this one.
  static std::uint64_t most_threads_of(CUkernel kernel) {
    static const auto attribute = DRIVER_FUNCTION(cuKernelGetAttribute);
    static const auto current_device = DRIVER_FUNCTION(cuCtxGetDevice);
    int threads = 0;
    CUdevice device = 0;
    const bool is_known = current_device(&device) == CUDA_SUCCESS &&
                          attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel,
                                    device) == CUDA_SUCCESS;
    return is_known && threads > 0 ? static_cast<std::uint64_t>(threads) : 0;
  }

  std::mutex mutex_;
  std::map<std::pair<const KernelBinding*, Kind>, Form> forms_;
};

Forms& forms() {
  static auto* const all = new Forms;  // hooks may run until the process is gone
  return *all;
}

// What its launch does beside running the kernel is what a form does as well.
bool may_be_of_form(const session::LaunchRequest& request, const ptx::Kernel& kernel) {
  return !request.is_programmatic && !request.is_cooperative && !request.cluster &&
         request.event == session::Handle{} &&
         std::uint64_t{request.shared_bytes} + kernel.shared_bytes <= kMostSharedBytes;
}

}  // namespace

KernelForms find_forms(const HookScope& scope, session::Session& session,
                       session::LaunchRequest& request) {
  const auto binding = session.modules().find(request.function);
  if (binding == nullptr || !binding->instrumented()) {
    return {};
  }
  KernelForms found;
  if (request.most_shared_bytes < request.shared_bytes &&
      request.shared_bytes <= binding->asked_shared) {
    found.uninstrumented = forms().find_uninstrumented(scope, session, binding, request);
    request.is_uninstrumented = found.uninstrumented != nullptr;
    return found;
  }
  if (!may_be_of_form(request, *binding->kernel)) {
    return {};
  }
  const ptx::Kernel& kernel = *binding->kernel;
  if (!kernel.guarded.empty()) {
    found.guarded = forms().find(scope, binding, Kind::kGuarded, request);
  }
  if (!kernel.plain.empty() && !forms().suffices(binding.get())) {
    found.plain = forms().find(scope, binding, Kind::kPlain, request);
  }
  request.has_guarded_form = found.guarded != nullptr;
  request.has_plain_form = found.plain != nullptr;
  return found;
}

void guarded_form_was_none(session::Session& session, const session::LaunchRequest& request) {
  if (const auto binding = session.modules().find(request.function)) {
    forms().was_none(binding.get());
  }
}

void unload_forms(session::Handle module) {
  forms().unload(module);
}

}  // namespace barracuda::preload
