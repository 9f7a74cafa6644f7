// What a report advises, in the words of the language that the kernel is written in, and what
// several of its sentences say alike.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

struct RemedyNames {
  const char *block_barrier = "", *warp_barrier = "", *fence = "", *system_fence = "", *update = "",
             *event = "";
  bool are_of_triton = false;
};

// Those of CUDA C++, numba or Triton.
const RemedyNames& names_for(const Access& access);
// Of events, by which any kernel is ordered.
const char* event_names(bool is_numba);

const char* verb_of(const Access& access);

// " at add.cu:12"; empty where the line is not known.
std::string place_text(const Frame& place);

// `flag`: " at add.cu:12", or empty.
std::string both_fences_missing(const Access& first, const RemedyNames& names,
                                const std::string& flag);

}  // namespace barracuda::report
