#include "session/source_line.h"

#include <algorithm>
#include <map>

#include "ptx/parse.h"

namespace barracuda::session {
namespace {

struct Place {
  std::string function;
  std::string file;
  ptx::Location location;
};

// The last .loc before the line, within its function.
Place find_place(const ptx::Module& module, std::uint32_t ptx_line) {
  Place place;
  std::map<std::uint32_t, std::string> files;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.kind == ptx::StatementKind::kFile) {
      files[statement.file_index] = statement.file_name;
    }
    if (statement.position.line > ptx_line) {
      continue;  // .file directives may stand at the end
    }
    if (statement.kind == ptx::StatementKind::kFunction) {
      place.function = module.functions[statement.function].name;
      place.location = {};
    } else if (statement.kind == ptx::StatementKind::kLocation) {
      place.location = statement.location;
    }
  }
  place.file = files[place.location.file];
  return place;
}

}  // namespace

std::vector<ptx::SourceFrame> source_frames(const std::string& text, std::uint32_t ptx_line,
                                            const ptx::SiteTable& sites) {
  const Expected<ptx::Module> module = ptx::parse(text);
  if (!module) {
    return {};
  }
  const Place place = find_place(*module, ptx_line);
  if (place.location.line == 0) {
    return {};
  }
  const auto same_place = [&place](const ptx::Site& site) {
    return site.function == place.function && !site.frames.empty() &&
           site.frames.front().file == place.file &&
           site.frames.front().line == place.location.line &&
           site.frames.front().column == place.location.column;
  };
  if (const auto site = std::ranges::find_if(sites, same_place); site != sites.end()) {
    return site->frames;
  }
  return {{.function = place.function,
           .file = place.file,
           .line = place.location.line,
           .column = place.location.column}};
}

}  // namespace barracuda::session
