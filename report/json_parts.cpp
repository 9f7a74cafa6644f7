#include "report/json_parts.h"

#include <utility>
#include <vector>

#include "report/bug.h"
#include "report/json_writer.h"

namespace barracuda::report {
Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json line_or_null(std::uint32_t line) {
  return line == 0 ? Json() : Json(line);
}

Json frame_json(const Frame& frame) {
  return {{"function", text_or_null(frame.function)},
          {"file", text_or_null(frame.file)},
          {"line", line_or_null(frame.line)}};
}

namespace {

Json frames_json(const Access& access) {
  Json frames = Json::array();
  for (const std::vector<Frame>* const chain : {&access.inlined, &access.callers}) {
    for (const Frame& frame : *chain) {
      frames.push_back(frame_json(frame));
    }
  }
  return frames;
}

Json last_sync_json(const Access& access, int schema) {
  if (access.last_sync.empty()) {
    return {};
  }
  Json sync = frame_json(access.last_sync_place);
  sync["instruction"] = access.last_sync;
  if (schema > 1) {
    sync["source"] = text_or_null(access.last_sync_source);
  }
  return sync;
}

Json syncs_json(const Access& access) {
  if (access.syncs.empty() && !access.has_all_syncs) {
    return {};
  }
  Json steps = Json::array();
  for (const Sync& sync : access.syncs) {
    Json step = frame_json(sync.place);
    step["instruction"] = sync.instruction;
    step["when"] = name_of(sync.when);
    steps.push_back(std::move(step));
  }
  return {{"complete", access.has_all_syncs}, {"steps", std::move(steps)}};
}

// What schema 1 has of an access, which is the beginning of what schema 2 has.
Json access_json(const Access& access) {
  const auto if_thread = [&access](const auto& value) {
    return access.has_thread ? Json(value) : Json();
  };
  const auto if_launch = [&access](const auto& value) {
    return access.launch != 0 ? Json(value) : Json();
  };
  return {{"op", text_or_null(name_of(access.operation))},
          {"size", access.size == 0 ? Json() : Json(access.size)},
          {"address", access.has_address ? Json(access.address) : Json()},
          {"function", text_or_null(access.place.function)},
          {"file", text_or_null(access.place.file)},
          {"line", line_or_null(access.place.line)},
          {"inlined", frames_json(access)},
          {"kernel", text_or_null(access.kernel)},
          {"launch", if_launch(access.launch)},
          {"stream", access.is_by_host ? Json(access.stream) : if_launch(access.stream)},
          {"thread", if_thread(access.thread)},
          {"block", if_thread(access.block)},
          {"warp", if_thread(access.warp)},
          {"lane", if_thread(access.lane)},
          {"last_sync", access.last_sync == "unknown" ? Json() : last_sync_json(access, 1)}};
}

}  // namespace

Json accesses_json(std::span<const Access> accesses, int schema) {
  Json list = Json::array();
  for (const Access& access : accesses) {
    Json json = access_json(access);
    if (schema > 1) {
      json["last_sync"] = last_sync_json(access, schema);
      json["syncs"] = syncs_json(access);
      json["grid"] = access.grid == Coordinates{} ? Json() : Json(access.grid);
      json["callers"] = access.callers.size();
      json["source"] = text_or_null(access.source);
      json["variable"] = text_or_null(access.object);
      json["note"] = text_or_null(access.note);
      json["instruction"] = text_or_null(access.instruction);
      json["ptx_line"] = line_or_null(access.ptx_line);
      json["launched_from"] = text_or_null(access.launched_from);
    }
    list.push_back(std::move(json));
  }
  return list;
}

std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json fence_place_json(const MissingFence& fence) {
  Json place = frame_json(fence.place);
  place["inlined"] = Json::array();
  for (const Frame& frame : fence.inlined) {
    place["inlined"].push_back(frame_json(frame));
  }
  place["statement"] = text_or_null(fence.statement);
  place["kernel"] = text_or_null(fence.kernel);
  return place;
}

Json fence_json(const MissingFence& fence, const char* type, const char* severity) {
  return {{"schema", kJsonSchema}, {"type", type},
          {"severity", severity},  {"place", fence_place_json(fence)},
          {"kind", fence.kind},    {"scope", fence.scope},
          {"cuda", fence.cuda},    {"evidence", {{"runs", fence.runs}}}};
}

}  // namespace barracuda::report
