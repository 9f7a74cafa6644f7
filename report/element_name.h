// Which element of an array an access is of, in the program's own words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/race_report.h"

namespace barracuda::report {

// Where a variable lies, and how much of it there is.
struct VariablePlace {
  std::string name;  // as the program has it: "left"
  std::uint64_t offset = 0, bytes = 0;
  // Which element it is of an array that the compiler has taken apart.
  std::optional<std::uint64_t> element;
};

// Of the name of a site (ptx/site_table.h): "_ZZ3addPiE4tile@8:128". Empty without a place.
VariablePlace place_of_variable(std::string_view site_variable);

// "left[32]"; "left" alone for what is no array, or where its elements are not known. PTX has no
// types of arrays: the elements are as large as all accesses of the finding, if a line of it has
// the variable with one index, and nothing of the element. `offset`: in the variable.
std::string element_name(const Finding& finding, const std::string& name, std::uint64_t offset,
                         std::uint64_t bytes);
// The same of a variable that is one element by itself; the name alone of any other.
std::string element_name(const Finding& finding, const VariablePlace& place);

}  // namespace barracuda::report
