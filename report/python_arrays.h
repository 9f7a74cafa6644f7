// The shared arrays of kernels that were compiled from Python, in Python's words.
//
// Of numba's PTX has a number for each ("_cudapy_smem_7"), in the order in which the process
// compiled them; the source has a line NAME = cuda.shared.array(SHAPE, …) for each, in the same
// order within a function. Of Triton's there is one alone, global_smem: the compiler decides what
// it is for, and neither the source nor the PTX says what lies where in it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/site_table.h"
#include "report/element_name.h"
#include "report/race_report.h"

namespace barracuda::report {

class PythonArrays {
 public:
  explicit PythonArrays(const ptx::SiteTable& sites) : sites_(sites) {}

  // Whether this is a compiler's name of one.
  static bool is_one(std::string_view symbol);

  // The array that the race is in, one of those that the function with the accesses makes: the only
  // one that both lines have an index of, or the one with the same number among its function's.
  // Empty: it is not known. Triton's keeps its name.
  [[nodiscard]] std::string name(const Finding& finding, const ptx::Site& site);
  // "tile[2, 8]"; "tile, element 40 as it lies" where the lengths of its rows are not known;
  // without a name "byte 160 of a shared array of 1024 bytes". Of Triton's, what it is.
  [[nodiscard]] std::string element(const Finding& finding, const ptx::Site& site);

 private:
  struct Array {
    std::string name;                // empty: it is made without one
    std::vector<std::string> shape;  // as Python has it
  };

  using Lines = std::vector<std::string>;

  const Lines& lines_in(const std::string& file);
  std::vector<Array> made_at(const Frame& place);
  [[nodiscard]] const Array* chosen(const std::vector<Array>& made, const Finding& finding,
                                    const ptx::Site& site);
  const std::set<std::uint64_t>& numbers_in(const std::string& function);
  [[nodiscard]] std::vector<std::uint64_t> row_lengths(const Array& array, const Lines& lines);

  const ptx::SiteTable& sites_;
  std::map<std::string, Lines> files_;
  std::map<std::string, std::set<std::uint64_t>> numbers_;  // by function in PTX
};

}  // namespace barracuda::report
