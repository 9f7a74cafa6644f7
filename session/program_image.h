// One image that a program hands to the driver (fat binary, PTX text, cubin) and what the driver
// gets instead: instrumented PTX. Immutable once made; lives for the whole session, because the
// driver may keep reading the text and the report needs the sites.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/fatbin.h"
#include "host_detector/launch.h"
#include "ptx/instrument.h"
#include "session/device_driver.h"
#include "session/ptx_changes.h"

namespace barracuda::session {

struct DeviceVariable {
  std::string name;
  bool is_managed = false;
  bool is_constant = false;
};

class SplitImage;
class UninstrumentedKernels;

struct ProgramImage {
  // NUL-terminated by std::string; empty if the image is loaded as it is, for the reason below.
  std::string text;
  std::string reason;
  bool has_ptx = false;
  std::vector<ptx::Kernel> kernels;
  std::vector<ptx::NotCovered> not_covered;
  std::vector<ptx::RegisterHazard> register_hazards;
  std::map<std::string, detector::Dim3> clusters;  // of kernels compiled for clusters
  std::vector<DeviceVariable> variables;           // at module scope, in global or constant memory
  // What the user's changes did to its PTX.
  ptx::ModuleFences fences;
  std::vector<ptx::EditOutcome> edit_outcomes;
  wire::SiteId first_site{};
  std::uint32_t site_count = 0;
  // Its text in parts, so that only kernels that are asked for are compiled; null where it is not
  // worth it or cannot be.
  std::shared_ptr<const SplitImage> split;
  std::shared_ptr<const UninstrumentedKernels> uninstrumented;  // null if it is loaded as it is

  [[nodiscard]] bool instrumented() const { return !text.empty(); }

  // Some kernel writes records. If none does, a GPU may as well get the program's own image.
  [[nodiscard]] bool logs() const;

  // Null if there is no such entry.
  [[nodiscard]] const ptx::Kernel* find_kernel(std::string_view name) const;
};

// The PTX of an image, or why there is none.
struct ImageSource {
  std::vector<std::string> units;  // PTX texts, several for an -rdc program
  std::string reason;              // if units is empty
};

// What the program made machine code of: PTX texts, and fat binaries, one translation unit each.
struct CodeOrigin {
  std::vector<std::string> texts;
  std::vector<fatbin::Container> units;
  std::string gap;  // what else went in, of which there is no PTX
};

// The origin of machine code, an ELF file at this address; null if it is not known.
using FindOrigin = const CodeOrigin* (*)(const void* cubin);

// Reads what cuModuleLoadData and its kin accept: wrapper, header, PTX text or cubin, at an address
// whose length only the format knows. `find` may be null.
ImageSource read_image(const void* image, const DeviceDriver& device, FindOrigin find);
// The same from a file's content.
ImageSource read_image_file(const std::string& content, const DeviceDriver& device,
                            FindOrigin find);

// Parses, changes and instruments. `sites` gets the table. Never fails: an image that cannot be
// instrumented comes back with its reason.
ProgramImage instrument_image(const ImageSource& source, const ptx::InstrumentOptions& options,
                              const PtxChanges& changes, ptx::SiteTable& sites);

}  // namespace barracuda::session
