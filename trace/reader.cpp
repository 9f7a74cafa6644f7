#include "trace/reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace barracuda::trace {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(BlockHeader);

struct FileMark {
  std::uint32_t magic = 0;
  std::uint32_t format = 0;
};

// Why these bytes are no trace of ours; empty if they may be one.
std::string why_not_a_trace(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return "it is empty: nothing was recorded to it";
  }
  FileMark mark;
  std::memcpy(&mark, bytes.data(), std::min(sizeof mark, bytes.size()));
  if (bytes.size() < sizeof mark || mark.magic != kMagic) {
    return "it is not a trace of barracuda's";
  }
  if (mark.format != kFormatVersion) {
    return fmt::format("it was written in version {} of the format; this command reads version {}",
                       mark.format, kFormatVersion);
  }
  return "";
}

std::string at_byte(std::size_t offset) {
  return fmt::format("at byte {}", offset);
}

}  // namespace

Expected<Reader> Reader::open(const std::string& path) {
  TRY(MappedFile file, MappedFile::open(path));
  auto reader = of_bytes(file.bytes());
  if (!reader) {
    reader.error().file = path;
    return reader;
  }
  reader->file_ = std::move(file);
  return reader;
}

Expected<Reader> Reader::of_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  const std::string problem = why_not_a_trace(bytes);
  reader.find_blocks();
  if (!reader.streams_.empty()) {
    return reader;
  }
  if (!problem.empty()) {
    return unexpected({.message = problem});
  }
  return unexpected({.message = "there is not one whole block in it: " + reader.damages_.front()});
}

void Reader::find_blocks() {
  std::size_t offset = 0;
  while (offset < bytes_.size()) {
    const auto header = read_header(bytes_.subspan(offset));
    if (!header) {
      offset = skip_damage(offset);
      continue;
    }
    const std::size_t end = offset + kHeaderBytes + header->stored_bytes;
    if (end > bytes_.size()) {
      const std::size_t next = skip_damage(offset + kHeaderBytes);
      if (next == bytes_.size()) {
        damages_.back() = fmt::format(
            "the trace ends {}, in the middle of a block: {} bytes of it "
            "are missing",
            at_byte(bytes_.size()), end - bytes_.size());
      }
      offset = next;
      continue;
    }
    add_block({.offset = offset, .header = *header});
    offset = end;
  }
}

// To the next header, or to the end.
std::size_t Reader::skip_damage(std::size_t from) {
  const char* const text = reinterpret_cast<const char*>(bytes_.data());
  const std::string_view all(text, bytes_.size());
  const std::string_view mark(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  std::size_t next = from;
  do {
    next = std::min(all.find(mark, next + 1), bytes_.size());
  } while (next < bytes_.size() && !read_header(bytes_.subspan(next)));
  if (next == bytes_.size() && next - from < kHeaderBytes) {
    damages_.push_back(fmt::format("the trace ends {}, in the middle of a block's header",
                                   at_byte(bytes_.size())));
  } else {
    damages_.push_back(
        fmt::format("the trace is damaged {}: {} bytes are no block", at_byte(from), next - from));
  }
  return next;
}

void Reader::add_block(const Stream::Place& place) {
  auto stream = std::ranges::find(streams_, place.header.stream, &Stream::id);
  if (stream == streams_.end()) {
    stream = streams_.insert(stream, Stream{.id = place.header.stream, .blocks = {}});
  }
  if (stream->has_gap || place.header.number != stream->blocks.size()) {
    if (!stream->has_gap) {
      damages_.push_back(fmt::format("block {} of a process is missing before byte {}",
                                     stream->blocks.size(), place.offset));
    }
    stream->has_gap = true;
    return;
  }
  stream->blocks.push_back(place);
}

Expected<void> Reader::visit(const Stream& stream, const Visitor& visitor,
                             const BlockVisitor& at_block) const {
  Event event;
  for (const Stream::Place& place : stream.blocks) {
    if (at_block && !at_block(kHeaderBytes + place.header.stored_bytes)) {
      return {};
    }
    const auto stored = bytes_.subspan(place.offset + kHeaderBytes, place.header.stored_bytes);
    const auto events = read_events(place.header, stored);
    const auto block =
        fmt::format("block {} of a process, {}", place.header.number, at_byte(place.offset));
    if (!events) {
      return unexpected({.message = fmt::format("{}: {}", block, events.error().message)});
    }
    std::span<const std::byte> rest = *events;
    while (!rest.empty()) {
      const std::size_t where = events->size() - rest.size();
      if (!decode(rest, event)) {
        return unexpected({.message = fmt::format("{}: there is no event {} of its contents", block,
                                                  at_byte(where))});
      }
      if (!visitor(event)) {
        return {};
      }
    }
  }
  return {};
}

}  // namespace barracuda::trace
