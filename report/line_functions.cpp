#include "report/line_functions.h"

namespace barracuda::report {

const LineFunctions::Names& LineFunctions::names_in(const std::string& function) {
  const auto [known, is_new] = functions_.try_emplace(function);
  if (!is_new) {
    return known->second;
  }
  for (const ptx::Site& site : sites_) {
    if (site.function == function && site.frames.size() > 1 && site.frames.front().line != 0) {
      const ptx::SourceFrame& inner = site.frames.front();
      known->second.try_emplace({inner.file, inner.line}, inner.function);
    }
  }
  return known->second;
}

const std::string* LineFunctions::of(const ptx::Site& site) {
  if (site.frames.size() != 1 || site.frames.front().line == 0) {
    return nullptr;
  }
  const Names& names = names_in(site.function);
  const auto found = names.find({site.frames.front().file, site.frames.front().line});
  return found == names.end() ? nullptr : &found->second;
}

}  // namespace barracuda::report
