// The sites of one cluster barrier, proxy fence, mbarrier operation, asynchronous copy or wait.
#pragma once

#include <vector>

#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"

namespace barracuda::ptx {

// `site` has its statement, function and effect, and the effect an operation. `registers` are those
// at the statement; they are asked only for a copy that `reads_some`. Empty if an operand is not
// understood.
std::vector<PlannedSite> plan_asynchronous(const PlannedSite& site, const Statement& statement,
                                           const RegisterSizes& registers);

// A cp.async with an operand that says how much of its source it reads, if anything.
bool reads_some(const Effect& effect);

// Whether that operand is a predicate: then all or nothing.
bool is_predicate(const Operand& operand, const RegisterSizes& registers);

}  // namespace barracuda::ptx
