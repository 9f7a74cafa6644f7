// PTX modules → one module with logging, or with delayed stores: the translation units of a program
// are linked as text (link.h), instrumented, and joined with the logger. A pure function of its
// arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "device_logger/unlogged_memory.h"
#include "ptx/abi.h"
#include "ptx/address_form.h"
#include "ptx/module.h"
#include "ptx/site_table.h"

namespace barracuda::ptx {

struct InstrumentOptions {
  wire::SiteId first_site{};
  bool reduce_in_block = true;  // no second log of the same bytes within a basic block
  // What model=paper needs: where the lanes of a warp part and meet, and which accesses the fences
  // next to them make acquires and releases.
  bool for_paper = false;
  // A launch may choose which block of the program each block of the device is (BlockOrder).
  bool renumbers_blocks = false;
  bool is_emulated = false;  // for the emulated device: where shared variables lie is known
  // Launches tell where they lie, which the compiler of machine code has chosen.
  bool tells_shared_places = false;
  bool has_shortcuts = false;  // its launches may leave accesses out: kernels have Shortcuts
  // Instead of logging: stores are delayed where the launch says so (device_logger/store_delays.h).
  bool delays_stores = false;
  // Instead of logging: a launch may also have blocks that are none of the program's and disturb
  // memory (device_logger/stressed_launch.h), and
  bool is_stressed = false;
  // Nothing is logged, whether or not anything is done instead.
  bool is_unlogged = false;
  bool permutes_warps = false;  // choose which warp of its block each warp is; only with the latter

  [[nodiscard]] bool rewrites() const { return delays_stores || is_stressed || is_unlogged; }
};

// What a launch needs to know of one entry.
struct Kernel {
  std::string name;
  std::vector<ParameterPlace> parameters;     // the program's own, without the hidden one
  std::uint32_t hidden_parameter_offset = 0;  // the buffer ends behind it
  std::uint32_t shared_bytes = 0;             // static ones that are the program's
  std::uint32_t logger_bytes = 0;             // of shared memory, before the program's
  bool instrumented = false;                  // if not, `reason` says why and nothing is appended
  bool is_empty = false;                      // has nothing to log and is left as it is
  std::string reason;
  // What it or a function that it may call mentions of the module's constants, and of its variables
  // in global memory.
  std::vector<std::string> constants, variables;
  bool renumbers_blocks = false;     // its launches may, see InstrumentOptions
  bool resizes_grid = false;         // its launches may have blocks that disturb memory
  std::uint32_t warps_together = 0;  // that a launch may move as one; 0: it may move none
  bool numbered = false;             // its call graph synchronises: strong accesses are numbered
  GlobalWrites writes;
  GlobalAccesses accesses;
  // That a warp makes where its lanes stay together; none where it may go round a loop, or call
  // what logs.
  std::optional<std::uint32_t> most_records;
  // analysis/grid_dependency.h: of programmatic launches.
  bool lets_dependents_begin = false, waits_first = false;
  std::vector<Shortcut> shortcuts;  // at most wire::kShortcuts
  // Its guarded form, a module with nothing else: for launches that leave out all that it does.
  // Nothing is logged there; each access looks whether it lies where its shortcut leads to. Empty:
  // there is none.
  std::string guarded;
  // The program's own code, in the same way: for launches that do what one did that was checked
  // (analysis/steady_kernels.h). Empty: there is none.
  std::string plain;
  wire::SiteId first_site{}, last_site{};  // of its own code, where it has a form
  // Nothing but barriers of whole blocks orders its threads: one record is made of what all warps
  // of a block do in turn (device_logger/block_events.h).
  bool has_block_events = false;
  // Then the bytes of shared memory may have states (device_logger/shared_states.h), and so may
  // those of other memory (device_logger/word_owners.h): the first site that they name, and how
  // many bytes have one.
  bool keeps_states = false, keeps_owners = false;
  bool keeps_copies = false;  // what its cp.async write has states: a block keeps more
  wire::SiteId state_sites{};
  std::uint32_t state_granule_log2 = 2, owner_granule_log2 = 2;

  [[nodiscard]] std::size_t hidden_parameter_bytes() const {
    return shortcuts.empty() ? sizeof(std::uint64_t) : sizeof(wire::HiddenArgument);
  }
};

struct NotCovered {  // an instruction or kernel that is not logged
  std::string function, instruction, reason;
  std::uint32_t ptx_line = 0;
  SourceFrame where;
  std::uint32_t count = 1;
};

// A register that wgmma.mma_async reads or writes while it is under way, touched meanwhile, or
// touched before without a wgmma.fence between.
struct RegisterHazard {
  enum class Kind : std::uint8_t { kReadInFlight, kWrittenInFlight, kFenceMissing };

  struct Place {
    std::string instruction;
    std::uint32_t ptx_line = 0;
    std::vector<SourceFrame> frames;  // innermost first
  };

  Kind kind = Kind::kReadInFlight;
  std::string function;       // mangled
  std::string register_name;  // the first of them
  Place product, touch;       // the wgmma, and what touches its register
};

struct InstrumentedModule {
  std::string text;
  SiteTable sites;
  std::vector<Kernel> kernels;
  std::vector<NotCovered> not_covered;
  std::vector<RegisterHazard> register_hazards;
  std::uint32_t instructions = 0;         // in the program
  std::uint32_t logged_instructions = 0;  // of these, sites
};

Expected<InstrumentedModule> instrument(std::vector<Module> units,
                                        const InstrumentOptions& options);

}  // namespace barracuda::ptx
