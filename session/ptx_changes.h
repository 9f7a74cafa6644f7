// What a user changes in the PTX of the program before it is instrumented: fences put in and taken
// out (the option fences=, and those of a plan), and the list of the places where one may be put
// (fence-places=); the changed PTX can be written to files (ptx-folder=). On both devices: it is
// the program that differs. A value; what it did to an image is kept with the image.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/options.h"
#include "ptx/edit_order.h"
#include "ptx/fence_places.h"
#include "ptx/module.h"

namespace barracuda::session {

// A program's units after the changes.
struct ChangedUnits {
  std::vector<ptx::Module> units;
  ptx::ModuleFences fences;                // as they were before; empty if nobody asks
  std::vector<ptx::EditOutcome> outcomes;  // of each change; empty if there are none
};

class PtxChanges {
 public:
  // None.
  PtxChanges() = default;
  // Errors, with the option: a file that cannot be read or understood.
  static Expected<PtxChanges> read(const Options& options);

  // Links the units first if there is something to do, since names are those of the linked module.
  // Errors: those of the linker, and a PTX file that cannot be written.
  [[nodiscard]] Expected<ChangedUnits> apply(std::vector<ptx::Module> units) const;

  // A sentence for each change that was made in no image, by the outcomes of all images; where
  // there are many the last sentence says how many more.
  [[nodiscard]] std::vector<std::string> unfit(
      std::span<const std::vector<ptx::EditOutcome>> of_images) const;

 private:
  struct Change {
    ptx::OrderEdit edit;
    std::string origin;  // "option fences: FILE:LINE"
  };

  [[nodiscard]] Expected<void> write(const ptx::Module& module) const;

  std::vector<Change> changes_;
  bool lists_places_ = false;
  std::string folder_;  // for the PTX; empty: nobody asks
};

// The places of the kernels that were launched and the fences that they have, as a fences file;
// places of several images that have their lines in common are one.
std::string fence_places_text(std::span<const ptx::ModuleFences> of_images,
                              const std::set<std::string>& launched);

}  // namespace barracuda::session
