// Where shared variables lie on a GPU, as launches have told (docs/decisions/shared-places.md).
#pragma once

#include "ptx/site_table.h"
#include "report/run_data.h"

namespace barracuda::report {

// The site of an access, with the place of its variable added to the name if it has none yet and a
// launch of that kernel has told it. Null: of no kernel that is known.
ptx::Site with_shared_place(const RunData& run, ptx::Site site, const LaunchRecord* launch);

}  // namespace barracuda::report
