// What a campaign has found, as the report has it: names for people, places, and the rule that
// allows each failure.
#pragma once

#include "report/weak_finding.h"
#include "weak_memory/campaign.h"

namespace barracuda::weak_memory {

// `plan` and `again` of the failures are left to who writes plans.
report::WeakReport report_of(const CampaignResult& result);

// Notes of any report about runs.
inline constexpr const char* kOutputsNotCompared =
    "outputs were not compared: without delays they differ from run to run (--compare-output FILE "
    "or --check COMMAND says what is right)";
std::string lost_runs(std::uint64_t lost, const std::string& reason);

// How many drains found how many stores, a line each (Bugaroo, Figures 3 and 4).
std::vector<std::string> drain_table(const CampaignResult& result);

// How often the program failed in each environment; effective: in more than 5 % of the runs.
std::vector<std::string> environment_table(const ReferenceRuns& references,
                                           const std::vector<EnvironmentRate>& environments);

}  // namespace barracuda::weak_memory
