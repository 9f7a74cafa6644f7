#include "report/site_lines.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "report/element_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

// "ld.global.f32" → "ld.global": instances of a template differ in what they load.
std::string without_type(const std::string& instruction) {
  const std::size_t dot = instruction.rfind('.');
  const bool is_type = dot != std::string::npos && dot + 1 < instruction.size() &&
                       std::string_view("usbf").find(instruction[dot + 1]) != std::string::npos &&
                       instruction.find_first_of("0123456789", dot) != std::string::npos;
  return is_type ? instruction.substr(0, dot) : instruction;
}

}  // namespace

// As the report names it: the innermost line outside CUDA's headers. The files of PTX itself have
// no name, and its lines are those of one instruction.
SiteLines::Place SiteLines::place_of(const ptx::Site& site) {
  const auto own = std::ranges::find_if(site.frames, [](const ptx::SourceFrame& frame) {
    return !frame.file.empty() && !is_toolkit_header(frame.file);
  });
  return own == site.frames.end() ? Place{"", site.ptx_line} : Place{own->file, own->line};
}

const SiteLines::Lines& SiteLines::lines_of(const std::string& function) {
  const auto [known, is_new] = functions_.try_emplace(function);
  if (!is_new) {
    return known->second;
  }
  for (const ptx::Site& site : sites_) {
    if (site.function != function) {
      continue;
    }
    Line& line = known->second[place_of(site)];
    line.instructions.insert(without_type(site.instruction));
    const std::string_view variable = without_stride(site.variable);
    if (std::ranges::find(line.variables, variable) == line.variables.end()) {
      line.variables.emplace_back(variable);
    }
  }
  return known->second;
}

SiteLines::Part SiteLines::part_of(const ptx::Site& site) {
  const Lines& lines = lines_of(site.function);
  const auto at = lines.find(place_of(site));
  if (at == lines.end()) {
    return {};
  }
  Part part;
  for (const std::string& instruction : at->second.instructions) {
    part.statement += (part.statement.empty() ? "" : " ") + instruction;
  }
  for (auto line = lines.begin(); line != at; ++line) {
    part.order +=
        line->first.first == at->first.first && line->second.instructions == at->second.instructions
            ? 1
            : 0;
  }
  const auto& variables = at->second.variables;
  part.variable = static_cast<std::uint32_t>(
      std::ranges::find(variables, without_stride(site.variable)) - variables.begin());
  return part;
}

}  // namespace barracuda::report
