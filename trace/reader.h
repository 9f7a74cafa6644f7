// A trace file: which streams it has, and their events. Accepts any bytes: damage is an error or a
// sentence with its place, and everything before it is still read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/file.h"
#include "trace/block.h"
#include "trace/event.h"

namespace barracuda::trace {

// One stream's blocks, as far as none is missing.
struct Stream {
  struct Place {
    std::size_t offset = 0;
    BlockHeader header;
  };

  std::uint64_t id = 0;
  std::vector<Place> blocks;
  bool has_gap = false;  // there are more blocks, behind one that is missing
};

class Reader {
 public:
  // Errors: cannot be read, is no trace, is one of another version of the format, holds no whole
  // block.
  static Expected<Reader> open(const std::string& path);
  // The same for bytes that outlive it.
  static Expected<Reader> of_bytes(std::span<const std::byte> bytes);

  // In the order in which they began.
  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }

  // What is wrong with the file itself, with offsets; empty if nothing is.
  [[nodiscard]] const std::vector<std::string>& damages() const { return damages_; }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  // Both return false to stop. The event's spans live until it returns; the other hears of a
  // block's bytes before its events, and may be empty.
  using Visitor = std::function<bool(const Event&)>;
  using BlockVisitor = std::function<bool(std::uint64_t bytes)>;

  // All events of a stream, as far as they can be read. Errors say at which offset they end, and
  // why.
  Expected<void> visit(const Stream& stream, const Visitor& visitor,
                       const BlockVisitor& at_block) const;

 private:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void find_blocks();
  std::size_t skip_damage(std::size_t from);
  void add_block(const Stream::Place& place);

  std::optional<MappedFile> file_;  // that holds the bytes, if it is ours
  std::span<const std::byte> bytes_;
  std::vector<Stream> streams_;
  std::vector<std::string> damages_;
};

}  // namespace barracuda::trace
