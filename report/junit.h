// The report as JUnit XML, which every CI server shows: the program is a test suite, each bug a
// test that failed, and one test more stands for coverage, so that a clean run has a test that
// passed.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

std::string junit_report(const Report& report);

}  // namespace barracuda::report
