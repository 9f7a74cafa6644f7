// Where a fence may be put: every access of memory that other threads may see, in the text of the
// program as it was parsed. What the source says in one line is one place, because that is where
// the fence would be written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/fence.h"
#include "ptx/module.h"
#include "ptx/site_table.h"
#include "ptx/statement_name.h"

namespace barracuda::ptx {

enum class AccessKind : std::uint8_t {
  kLoad,
  kStrongLoad,  // volatile, relaxed or acquiring: what a thread may poll with
  kStore,
  kAtomic
};

// A line of the source; without line information no file and line 0.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;

  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

struct FencePlace {
  StatementName at;
  // Accesses of one place have the same number; places are numbered from 1 in the order of the
  // text. All accesses of one user's line with one chain of calls that it was inlined through are
  // one place, of whatever function: instances of a template have the line in common. Without line
  // information each access is a place.
  std::uint32_t place = 0;
  AccessKind kind = AccessKind::kLoad;
  StateSpace space = StateSpace::kGeneric;  // kGlobal, kShared or kGeneric
  std::vector<std::string> kernels;         // that may run it, mangled, in alphabetical order
  // The innermost line of the user's and those that it was inlined at; empty without line
  // information.
  std::vector<SourcePlace> lines;
  // The fence that the program has there, as the next instruction.
  std::optional<Fence> next;

  friend bool operator==(const FencePlace&, const FencePlace&) = default;
};

// A fence that the program has: one that may be taken out (RemoveFence).
struct OwnFence {
  StatementName at;
  Fence fence;                       // of a fence for one side alone, kAcqRel
  std::vector<std::string> kernels;  // as of a FencePlace
  std::vector<SourcePlace> lines;

  friend bool operator==(const OwnFence&, const OwnFence&) = default;
};

struct ModuleFences {
  std::vector<FencePlace> places;  // where one may be put
  std::vector<OwnFence> own;       // those that are there
};

// Whether a file is the user's and not CUDA's own; of a chain of files that are all CUDA's the
// innermost one counts.
using IsUserFile = std::function<bool(std::string_view file)>;

// Of a linked module, which is the same afterwards. In the order of the text. Errors: those of the
// call graph.
Expected<std::vector<FencePlace>> find_fence_places(Module& module, const IsUserFile& is_user_file);
// Those of the kernels and what they call, likewise.
Expected<std::vector<OwnFence>> find_own_fences(Module& module, const IsUserFile& is_user_file);

}  // namespace barracuda::ptx
