// What a report calls what the detector and the tool found.
#pragma once

#include "host_detector/copy.h"
#include "host_detector/race_event.h"
#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

[[nodiscard]] const char* name_of(detector::RaceKind kind);
[[nodiscard]] FindingSeverity severity_of(detector::Severity severity);
[[nodiscard]] FindingType type_of(KernelEnd end);
// kUnknown: it accesses no memory of its own.
[[nodiscard]] AccessOperation operation_of(const ptx::Site& site);
[[nodiscard]] AccessOperation operation_of(detector::HostOperation operation);

}  // namespace barracuda::report
