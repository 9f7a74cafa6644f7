// Which element of an array an access is of, in the program's own words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/race_report.h"
#include "report/source_text.h"

namespace barracuda::report {

// Where a variable lies, and how much of it there is.
struct VariablePlace {
  std::string name;  // as the program has it: "left"
  std::uint64_t offset = 0, bytes = 0;
  bool is_placed = false;    // the two hold
  bool has_members = false;  // its elements are larger than what is accessed of one
  // Which element it is of an array that the compiler has taken apart.
  std::optional<std::uint64_t> element;
};

// Of the name of a site (ptx/site_table.h): "_ZZ3addPiE4tile@8:128". Of dynamic shared memory,
// whose end is not known, as if it had all bytes that there could be.
VariablePlace place_of_variable(std::string_view site_variable);
// What tells the variables of a line apart.
std::string_view without_stride(std::string_view site_variable);

// "left[32]" of a finding in what begins at address `begin` (of shared memory, an offset) and has
// `bytes`; "left" alone for what is no array, or where its elements are not known. PTX has no types
// of arrays: their elements are as large as the access by a line that has the variable with an
// index, and nothing of the element. What takes many elements at once (a bulk copy, a vector) does
// not say how large they are. Of several indices ("tile[3][17]") the array's declaration in
// `sources` says how many elements there are of each; null: there are none.
std::string element_name(const Finding& finding, const std::string& name, std::uint64_t begin,
                         std::uint64_t bytes, SourceText* sources);
// The same of a variable that is one element by itself; the name alone of any other.
std::string element_name(const Finding& finding, const VariablePlace& place);

}  // namespace barracuda::report
