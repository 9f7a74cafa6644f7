// How weak the device's memory is made: plain data. A store is *delayed* when it waits in its
// thread's or its block's buffer, visible to fewer threads than have a right to it; a load is
// *stale* when it returns what it would have returned earlier, and *late* when it takes place after
// its thread's later stores. A *decision* is one dynamic store or load that is treated so. Nothing
// is shown that PTX does not allow (docs/decisions/delayed-stores.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/dim3.h"

namespace barracuda::emulator {

enum class WeakKind : std::uint8_t { kStore, kStale, kLate };
enum class WeakSpace : std::uint8_t { kGlobal, kShared };
inline constexpr int kWeakSpaces = 2;

// A line of the program's text, as `.loc` gives it; empty and 0 where there is none.
struct CodePlace {
  std::string file;
  std::uint32_t line = 0;

  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

struct Decision {
  std::uint64_t launch = 0;  // of the machine, from 1
  std::string kernel;
  Dim3 block{.x = 0, .y = 0, .z = 0}, thread{.x = 0, .y = 0, .z = 0};
  WeakKind kind = WeakKind::kStore;
  // From 1: of the thread's stores that may be delayed, or of its loads that may be stale or late.
  std::uint64_t number = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};

// What ended it.
enum class WeakEnd : std::uint8_t {
  kRelease,    // a fence, or an operation that releases, of its thread or of its block
  kBarrier,    // of a warp, a CTA or a cluster
  kAge,        // as many turns as delay-age allows
  kPoll,       // the resident clusters did little but poll
  kCapacity,   // of a buffer
  kSettle,     // an access of its own thread or block to the same bytes
  kExit,       // of its thread, or of the block that owns the bytes
  kLaunchEnd,  // the launch was over
  kHeld,       // another thread has accessed the bytes: it was held for that
  kRead,       // of a load: it took place
};
inline constexpr int kWeakEnds = 10;

// A thread that read the old value meanwhile.
struct WeakReader {
  Dim3 block{.x = 0, .y = 0, .z = 0}, thread{.x = 0, .y = 0, .z = 0};
  CodePlace at;

  friend bool operator==(const WeakReader&, const WeakReader&) = default;
};

// A decision that was made, and what became of it.
struct WeakEvent {
  Decision decision;
  WeakEnd until = WeakEnd::kLaunchEnd;
  std::uint64_t turns = 0;  // of the schedule, for which a store waited; 0 of a load
  WeakSpace space = WeakSpace::kGlobal;
  std::uint64_t address = 0;  // in shared memory: the offset in the CTA's
  std::uint32_t bytes = 0;
  CodePlace at;
  bool was_read = false;
  WeakReader reader;  // the first, if was_read

  friend bool operator==(const WeakEvent&, const WeakEvent&) = default;
};

// The number of drains by how many entries they found; the last element counts all that found more.
using DrainLengths = std::array<std::uint64_t, 257>;

// What the threads of a launch have executed, one by one: an instruction of a whole warp counts 32.
struct WeakCounts {
  std::uint64_t instructions = 0;
  std::array<std::uint64_t, kWeakSpaces> stores{};  // st

  struct Fences {
    CodePlace at;
    std::uint64_t count = 0;

    friend bool operator==(const Fences&, const Fences&) = default;
  };

  std::vector<Fences> fences;  // fence and membar, by their lines

  void add_fences(const CodePlace& at, std::uint64_t count);
  void add(const WeakCounts& more);

  friend bool operator==(const WeakCounts&, const WeakCounts&) = default;
};

struct WeakLog {
  std::vector<WeakEvent> events;
  // Plain stores that became visible by age or because everybody polled, while `reader`, another
  // thread, polled their bytes.
  std::vector<WeakEvent> starvations;
  std::array<DrainLengths, kWeakSpaces> drains{};
  WeakCounts counts;

  // Adds what a later piece of the log says.
  void add(const WeakLog& more);
  [[nodiscard]] bool empty() const;
};

enum class WeakShape : std::uint8_t {
  kFull,
  // As the paper has it where that is legal: thread buffers alone, one that is full drains wholly,
  // an older store of the same bytes leaves at once, an exit drains.
  kBugaroo,
};

struct Weakness {
  // Probabilities, 0 to 1.
  double delay_stores = 0, stale_reads = 0, late_loads = 0;
  std::array<bool, kWeakSpaces> spaces{true, true};
  // Of a thread's buffer, in stores. One that is full drains its oldest.
  std::uint32_t capacity = 256;
  // Stores that a block's threads see wait for others in a buffer of the block.
  bool block_level = true;
  // Turns of the schedule after which strong stores, and plain ones, become visible.
  std::uint64_t strong_age = 1024, weak_age = 65'536;
  // Plain loads of one address by one thread may go back in time, which PTX allows.
  bool weak_coherence = false;
  // The elements of a vector store are delayed one by one.
  bool split_vectors = false;
  std::uint64_t seed = 1;  // of the draws
  WeakShape shape = WeakShape::kFull;
  std::function<bool(std::string_view)> takes_kernel;  // by its mangled name; null: all
  // What is made weak is confined to these lines, the innermost user's of an instruction; a delayed
  // store is then held until another thread has accessed its bytes. Empty: everywhere.
  std::vector<CodePlace> places;
  std::function<bool(std::string_view)> is_library_file;  // has no user's lines; null: none
  // With it exactly these are made weak, and nothing is drawn.
  bool has_decisions = false;
  std::vector<Decision> decisions;
  // Gets what was made weak, in pieces, while launches run and when they end. May be null.
  std::function<void(const WeakLog&)> report;
};

}  // namespace barracuda::emulator
