#include "cli/device_code.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "report/symbol_name.h"

namespace barracuda::cli {
namespace {

// Takes some seconds to read. cuBLAS and PyTorch have much more.
constexpr std::uint64_t kMostPtx = std::uint64_t{16} << 20;

bool is_ptx(const fatbin::Image& image) {
  return image.kind == fatbin::EntryKind::kPtx;
}

bool has_ptx(const fatbin::Container& container) {
  return std::ranges::any_of(container.images, is_ptx);
}

const fatbin::Image* choose(const fatbin::Container& container, DeviceArch arch) {
  return arch != 0
             ? fatbin::best_ptx(container, arch)
             : fatbin::best_ptx_for_emulator(container, std::numeric_limits<std::uint32_t>::max());
}

// Every program has an empty cubin of the device linker, of 1.5 KB; with one empty kernel it
// is 3.4.
constexpr std::uint64_t kLeastCode = 2048;

bool may_have_kernels(const fatbin::Container& container) {
  return std::ranges::any_of(container.images, [](const fatbin::Image& image) {
    return is_ptx(image) || image.payload_size >= kLeastCode;
  });
}

// What nvlink has made of units that are there themselves has no PTX and needs none. Which of the
// file's linked containers that is, the file does not say: where there are units before linking,
// none of them counts as lacking its PTX.
bool counts_as_unit(const fatbin::HostImage& image, std::size_t index, bool is_linked) {
  const fatbin::Container& container = image.containers[index];
  return may_have_kernels(container) &&
         (image.is_before_linking[index] || !is_linked || has_ptx(container));
}

// "13.0" of "// Cuda compilation tools, release 13.0, V13.0.88" in the text's head.
std::string toolkit_of(std::string_view ptx) {
  constexpr std::string_view kRelease = "compilation tools, release ";
  const std::size_t at = ptx.find(kRelease);
  if (at == ptx.npos) {
    return {};
  }
  const std::string_view rest = ptx.substr(at + kRelease.size());
  return std::string(rest.substr(0, rest.find_first_of(",\n")));
}

// Reads the kernels of the modules that a file's PTX becomes: each plain unit is one, and all that
// -rdc has linked is another.
class KernelReader {
 public:
  explicit KernelReader(DeviceCode& code) : code_(code) {}

  void add(const fatbin::Image& image, bool is_before_linking) {
    if (const std::string toolkit = toolkit_of(image.payload); !toolkit.empty()) {
      code_.toolkits.insert(toolkit);
    }
    auto module = ptx::parse(image.payload);
    if (!module) {
      code_.unreadable.push_back(module.error().to_string());
      return;
    }
    note_functions(*module);
    if (is_before_linking) {
      linked_.push_back(std::move(*module));
      return;
    }
    std::vector<ptx::Module> units;
    units.push_back(std::move(*module));
    read(std::move(units));
  }

  void finish() {
    if (!linked_.empty()) {
      read(std::move(linked_));
    }
    for (auto& [name, kernel] : kernels_) {
      code_.kernels.push_back(std::move(kernel));
    }
    std::ranges::sort(code_.kernels, {}, &CarriedKernel::name);
    code_.is_read = true;
  }

 private:
  // Kernels by their names in the PTX: what a function's own text says.
  void note_functions(const ptx::Module& module) {
    for (const ptx::Function& function : module.functions) {
      if (!function.is_entry || !function.has_body) {
        continue;
      }
      CarriedKernel& kernel = kernels_[std::string(function.name)];
      kernel.name = report::demangle(std::string(function.name));
      kernel.bounds = function.bounds;
      for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
        kernel.has_lines |= module.statements[i].kind == ptx::StatementKind::kLocation;
      }
    }
  }

  void read(std::vector<ptx::Module> units) {
    const auto made = ptx::instrument(std::move(units), {});
    if (!made) {
      code_.unreadable.push_back(made.error().to_string());
      return;
    }
    for (const ptx::Kernel& each : made->kernels) {
      CarriedKernel& kernel = kernels_[each.name];
      kernel.is_instrumented = each.instrumented || each.is_empty;
      kernel.reason = each.reason;
      kernel.shared_bytes = each.shared_bytes;
    }
    for (const ptx::NotCovered& gap : made->not_covered) {
      code_.not_covered.insert(gap.instruction.empty() ? gap.reason : gap.instruction);
    }
  }

  DeviceCode& code_;
  std::map<std::string, CarriedKernel> kernels_;
  std::vector<ptx::Module> linked_;
};

void note_images(const fatbin::Container& container, DeviceCode& code) {
  for (const fatbin::Image& image : container.images) {
    if (is_ptx(image)) {
      code.ptx_targets.insert(image.target());
    } else if (image.kind == fatbin::EntryKind::kCubin) {
      code.code_targets.insert(image.target());
    }
    code.has_debug_code |= image.has_debug;
  }
}

void note_unit(const fatbin::Container& container, DeviceArch arch, DeviceCode& code) {
  ++code.units;
  if (has_ptx(container)) {
    code.without_fitting_ptx += choose(container, arch) == nullptr ? 1 : 0;
    return;
  }
  ++code.without_ptx;
  for (const fatbin::Image& image : container.images) {
    if (!image.identifier.empty()) {
      code.sources_without_ptx.insert(image.identifier);
    }
  }
}

}  // namespace

DeviceCode read_device_code(const std::string& file, const fatbin::HostImage& image,
                            DeviceArch arch) {
  DeviceCode code;
  const bool is_linked =
      std::ranges::find(image.is_before_linking, true) != image.is_before_linking.end();
  std::uint64_t ptx_bytes = 0;
  for (std::size_t i = 0; i < image.containers.size(); ++i) {
    note_images(image.containers[i], code);
    if (!counts_as_unit(image, i, is_linked)) {
      continue;
    }
    note_unit(image.containers[i], arch, code);
    if (const fatbin::Image* const chosen = choose(image.containers[i], arch)) {
      ptx_bytes += chosen->payload_size;
    }
  }
  if (ptx_bytes == 0 || ptx_bytes > kMostPtx) {
    return code;
  }
  const auto whole = fatbin::read_host_image(file, fatbin::Payloads::kPtx);
  if (!whole) {
    code.unreadable.push_back(whole.error().to_string());
    return code;
  }
  KernelReader reader(code);
  for (std::size_t i = 0; i < whole->containers.size(); ++i) {
    if (const fatbin::Image* const chosen = choose(whole->containers[i], arch);
        chosen != nullptr && counts_as_unit(*whole, i, is_linked)) {
      reader.add(*chosen, whole->is_before_linking[i]);
    }
  }
  reader.finish();
  return code;
}

}  // namespace barracuda::cli
