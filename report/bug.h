// Findings that are one bug: one pair of source lines, whatever kinds of race it has, which way
// around its accesses came, and in how many instances of a template, kernels and processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "report/race_report.h"

namespace barracuda::report {

struct Bug {
  std::vector<const Finding*> variants;  // errors first, of these the farthest threads

  [[nodiscard]] const Finding& shown() const {
    ASSERT(!variants.empty());
    return *variants.front();
  }

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::vector<Process> processes() const;
};

// In the order of their first findings. They point into the findings.
std::vector<Bug> bugs_of(const std::vector<Finding>& findings);

// Nothing that a reader would look at is different: of two such findings one is kept, and counted.
bool is_same_variant(const Finding& left, const Finding& right);

// Adds it to the one that it is a repetition of, or as a new one; the one that is kept.
Finding& add_finding(std::vector<Finding>& findings, Finding finding);

// "write and read", whichever came first.
std::string operations_of(const Finding& finding);

const char* name_of(AccessOperation operation);

}  // namespace barracuda::report
