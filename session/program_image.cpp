#include "session/program_image.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "fatbin/fatbin.h"
#include "ptx/device_runtime.h"
#include "ptx/parse.h"

namespace barracuda::session {
namespace {

const fatbin::Image* choose(const fatbin::Container& container, const DeviceDriver& device) {
  return device.is_emulated() ? fatbin::best_ptx_for_emulator(container, device.device_arch())
                              : fatbin::best_ptx(container, device.device_arch());
}

void choose_units(std::span<const fatbin::Container> containers, const DeviceDriver& device,
                  ImageSource& source) {
  for (const fatbin::Container& container : containers) {
    const fatbin::Image* const best = choose(container, device);
    if (best == nullptr) {
      source.units.clear();
      source.reason = "it has no PTX for this device (sm_" + std::to_string(device.device_arch()) +
                      "); build with -gencode arch=compute_XX,code=compute_XX to embed it";
      return;
    }
    source.units.push_back(best->payload);
  }
}

ImageSource choose_units(const Expected<fatbin::Fatbin>& read, const DeviceDriver& device) {
  ImageSource source;
  if (!read) {
    source.reason = "its fat binary could not be read: " + read.error().to_string();
    return source;
  }
  choose_units(read->translation_units(), device, source);
  if (source.units.empty() && source.reason.empty()) {
    source.reason = "its fat binary is empty";
  }
  return source;
}

ImageSource source_of(const CodeOrigin& origin, const DeviceDriver& device) {
  ImageSource source;
  if (!origin.gap.empty()) {
    source.reason = "its image is machine code that was linked from " + origin.gap;
    return source;
  }
  source.units = origin.texts;
  choose_units(origin.units, device, source);
  return source;
}

// Of a translation unit without PTX, that of its machine code; null if that is not known.
const CodeOrigin* origin_of(const fatbin::Container& unit, const DeviceDriver& device,
                            FindOrigin find) {
  const std::vector<const fatbin::Image*> codes =
      device.is_emulated() ? fatbin::machine_code(unit)
                           : fatbin::machine_code_for(unit, device.device_arch());
  for (const fatbin::Image* const code : codes) {
    constexpr std::size_t kHeader = 64;  // of an ELF file
    const bool is_code = code->payload.size() >= kHeader &&
                         fatbin::kind_of_image(code->payload.data()) == fatbin::ImageKind::kCubin;
    const CodeOrigin* const origin = is_code ? find(code->payload.data()) : nullptr;
    if (origin != nullptr) {
      return origin;
    }
  }
  return nullptr;
}

// All of the units, or none.
ImageSource choose_known(const fatbin::Fatbin& read, const DeviceDriver& device, FindOrigin find) {
  ImageSource source;
  for (const fatbin::Container& unit : read.translation_units()) {
    if (const fatbin::Image* const text = choose(unit, device)) {
      source.units.push_back(text->payload);
      continue;
    }
    const CodeOrigin* const origin = origin_of(unit, device, find);
    ImageSource known = origin == nullptr ? ImageSource() : source_of(*origin, device);
    if (known.units.empty()) {
      return {.units = {}, .reason = std::move(known.reason)};
    }
    std::ranges::move(known.units, std::back_inserter(source.units));
  }
  return source;
}

// Machine code is large: it is read only where there is no PTX. `read` is given what to read.
template <typename Read>
ImageSource read_fatbin(const Read& read, const DeviceDriver& device, FindOrigin find) {
  ImageSource source = choose_units(read(fatbin::Payloads::kPtx), device);
  if (!source.units.empty() || find == nullptr) {
    return source;
  }
  const Expected<fatbin::Fatbin> with_code = read(fatbin::Payloads::kAll);
  const ImageSource known = with_code ? choose_known(*with_code, device, find) : ImageSource();
  const bool says_more = !known.units.empty() || !known.reason.empty();
  return says_more ? known : source;
}

// Module scope is where no function's body is open.
void collect_variables(const ptx::Module& module, std::vector<DeviceVariable>& variables) {
  int depth = 0;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.kind == ptx::StatementKind::kBlockOpen) {
      ++depth;
    } else if (statement.kind == ptx::StatementKind::kBlockClose) {
      --depth;
    }
    if (statement.kind != ptx::StatementKind::kVariable || depth != 0) {
      continue;
    }
    for (const ptx::Variable& variable : statement.variables) {
      const bool is_constant = variable.space == ptx::StateSpace::kConst;
      if ((variable.space == ptx::StateSpace::kGlobal || is_constant) && !variable.is_extern) {
        variables.push_back({.name = std::string(variable.name),
                             .is_managed = variable.is_managed,
                             .is_constant = is_constant});
      }
    }
  }
}

void collect_clusters(const ptx::Module& module, std::map<std::string, detector::Dim3>& clusters) {
  for (const ptx::Function& function : module.functions) {
    if (const auto required = function.bounds.required_cluster) {
      clusters[std::string(function.name)] = {.x = required->x, .y = required->y, .z = required->z};
    }
  }
}

}  // namespace

const ptx::Kernel* ProgramImage::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &ptx::Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

bool ProgramImage::logs() const {
  return std::ranges::any_of(kernels, &ptx::Kernel::instrumented);
}

ImageSource read_image(const void* image, const DeviceDriver& device, FindOrigin find) {
  ImageSource source;
  switch (fatbin::kind_of_image(image)) {
    case fatbin::ImageKind::kWrapper:
    case fatbin::ImageKind::kHeader:
      return read_fatbin(
          [image](fatbin::Payloads payloads) { return fatbin::read(image, payloads); }, device,
          find);
    case fatbin::ImageKind::kPtxText:
      source.units.emplace_back(static_cast<const char*>(image));
      return source;
    case fatbin::ImageKind::kCubin:
      if (const CodeOrigin* const origin = find == nullptr ? nullptr : find(image)) {
        return source_of(*origin, device);
      }
      source.reason =
          "its image is machine code without PTX (a cubin), which neither NVRTC or nvJitLink in "
          "this process nor ptxas below it was seen to make";
      return source;
    case fatbin::ImageKind::kUnknown:
      break;
  }
  source.reason = "its image is in no format that the tool knows";
  return source;
}

// A file has an end, and no wrapper: that one consists of addresses.
ImageSource read_image_file(const std::string& content, const DeviceDriver& device,
                            FindOrigin find) {
  constexpr std::size_t kLongestMark = 16;  // what tells the kinds apart stands before that
  if (content.size() >= kLongestMark) {
    const fatbin::ImageKind kind = fatbin::kind_of_image(content.data());
    if (kind == fatbin::ImageKind::kHeader) {
      return read_fatbin(
          [&content](fatbin::Payloads payloads) {
            return fatbin::read(std::as_bytes(std::span(content)), payloads);
          },
          device, find);
    }
    if (kind == fatbin::ImageKind::kPtxText || kind == fatbin::ImageKind::kCubin) {
      return read_image(content.data(), device, find);
    }
  }
  ImageSource source;
  source.reason = "its file is in no format that the tool knows";
  return source;
}

ProgramImage instrument_image(const ImageSource& source, const ptx::InstrumentOptions& options,
                              const PtxChanges& changes, ptx::SiteTable& sites) {
  ProgramImage image;
  image.has_ptx = !source.units.empty();
  image.first_site = options.first_site;
  image.reason = source.reason;
  if (!image.has_ptx) {
    return image;
  }
  std::vector<ptx::Module> units;
  for (const std::string& text : source.units) {
    Expected<ptx::Module> unit = ptx::parse(text);
    if (!unit) {
      image.reason = "its PTX could not be read: " + unit.error().to_string();
      return image;
    }
    collect_variables(*unit, image.variables);
    collect_clusters(*unit, image.clusters);
    units.push_back(std::move(*unit));
  }
  if (const Expected<void> added = ptx::add_device_runtime(units); !added) {
    image.reason = "its PTX could not be linked: " + added.error().to_string();
    return image;
  }
  Expected<ChangedUnits> changed = changes.apply(std::move(units));
  if (!changed) {
    image.reason = "its PTX could not be linked: " + changed.error().to_string();
    return image;
  }
  image.fences = std::move(changed->fences);
  image.edit_outcomes = std::move(changed->outcomes);
  Expected<ptx::InstrumentedModule> made = ptx::instrument(std::move(changed->units), options);
  if (!made) {
    image.reason = "its PTX could not be instrumented: " + made.error().to_string();
    return image;
  }
  image.text = std::move(made->text);
  image.kernels = std::move(made->kernels);
  image.not_covered = std::move(made->not_covered);
  image.register_hazards = std::move(made->register_hazards);
  image.site_count = static_cast<std::uint32_t>(made->sites.size());
  sites = std::move(made->sites);
  return image;
}

}  // namespace barracuda::session
