// What a kernel's accesses of global memory know of their addresses before a launch: expressions of
// its arguments, of the numbers of thread and block and of counters of loops, as its code computes
// them. Who launches has the arguments and the grid, and evaluates (session/affine_address.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace barracuda::ptx {

// Eight bytes of a kernel's arguments.
struct ArgumentWord {
  std::uint32_t parameter = 0;
  std::uint32_t offset = 0;  // bytes into it

  friend bool operator==(const ArgumentWord&, const ArgumentWord&) = default;
};

// What leads to global memory that is written, or accessed (analysis/global_writes.h).
struct GlobalWrites {
  bool is_known = false;   // it is nothing but the following
  bool variables = false;  // variables of the module
  // Words from memory are added to what follows, so each of these has to be an address.
  bool has_loaded_index = false;
  std::vector<ArgumentWord> arguments;
  std::string variable;  // the one that it is, where it is known to be one and nothing else
};

enum class AddressOp : std::uint8_t {
  kConstant,   // value
  kArgument,   // `bytes` bytes at `word`
  kThread,     // %tid, coordinate `value`
  kBlock,      // %ctaid
  kBlockSize,  // %ntid
  kGridSize,   // %nctaid
  kAdd,
  kSubtract,
  kMultiply,
  kShiftLeft,
  kShiftRight,  // is_signed: arithmetic
  kAnd,
  kOr,
  kWiden,   // of 4 bytes
  kNarrow,  // to 4 bytes
  kCount,   // `first` and any number of times `second`: what a loop adds up
};

// Of 4 or 8 bytes, modulo 2^32 or 2^64.
struct AddressNode {
  AddressOp op = AddressOp::kConstant;
  std::uint8_t bytes = 8;
  bool is_signed = false;
  std::uint32_t first = 0, second = 0;  // operands: earlier nodes
  std::uint64_t value = 0;
  ArgumentWord word;

  friend bool operator==(const AddressNode&, const AddressNode&) = default;
};

// Whoever makes an access that it guards has found `less` less than `more`, or equal to it if it
// may be: nodes of 8 bytes that have the whole numbers which the code compares.
struct AddressGuard {
  std::uint32_t less = 0, more = 0;
  bool may_be_equal = false;
  bool is_signed = false;
};

// One instruction that may access global memory.
struct GlobalAccess {
  GlobalWrites leads;  // to what it accesses
  // A plain load or store whose address is known: its node, the bytes that it accesses from there
  // on, and its sites, whose numbers follow each other. No site: another access stands for it.
  std::optional<std::uint32_t> form;
  std::int64_t offset = 0;
  std::vector<std::uint32_t> guards;  // of such an access: of GlobalAccesses::guards
  // An atomic operation that orders nothing and whose result decides nothing, at whatever address.
  // It has bytes and a site, as those have.
  bool is_atomic = false;
  std::uint32_t bytes = 0;
  std::uint32_t first_site = 0, sites = 0;
};

struct GlobalAccesses {
  std::vector<AddressNode> nodes;
  std::vector<AddressGuard> guards;
  std::vector<GlobalAccess> accesses;  // all of the kernel
  bool are_known = false;              // if not, there may be others
};

// Plain loads and stores of an entry that one argument leads to, or one variable: where a launch
// says of a range of memory that they need no record there (wire::HiddenArgument), they go round
// their hooks by a comparison.
struct Shortcut {
  std::optional<ArgumentWord> argument;
  std::string variable;                 // if there is no argument
  bool stores = false;                  // some of them do
  std::vector<std::uint32_t> accesses;  // of GlobalAccesses
};

}  // namespace barracuda::ptx
