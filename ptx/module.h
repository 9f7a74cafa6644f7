// The model of one PTX translation unit: a flat list of statements, each with the text it was read
// from and, where it is code or a declaration, its parsed form. Passes insert, replace and erase
// statements; what they do not touch is printed back as it was read (print.h).
//
// All string_views point into text that the module owns (`own`) or into static storage; a module is
// move-only and keeps them valid when moved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/mnemonic.h"

namespace barracuda::ptx {

struct Position {
  std::uint32_t line = 0;  // 1-based; 0: inserted by a pass
  std::uint32_t column = 0;
};

enum class StateSpace : std::uint8_t {
  kNone,
  kReg,
  kSreg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared,
  kTex,
  kGeneric,
};

struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,  // %r1, or an unprefixed register declared in scope; name; component: "x" of %v.x
    kSpecial,   // %tid.x, %laneid, %clock64 …; name without component, component "x" or empty
    kInteger,   // bits; text has the literal
    kFloat,     // bits of the double or, for 0f…, of the float; float_bits says which
    kSymbol,    // variable, function, label, parameter: name; offset in bytes (sym+4, or sym[1]
                // scaled by the size of sym's elements); elements[0]: the register of sym[%r]
    kAddress,   // [base+offset]: elements[0] is the base (register, symbol or integer); for texture
                // and tensor forms elements[1…] are what follows it ({x, y} is a kVector);
                // component: "unified" of [a].unified
    kVector,    // {a, b}: elements
    kPair,      // d|p: elements[0], elements[1]
    kList,      // (a, b) of a call: elements
    kSink,      // _
  };
  Kind kind = Kind::kSink;
  bool negated = false;  // !p, or -r where PTX allows it
  std::uint8_t float_bits = 0;
  std::string_view text;  // as written
  std::string_view name;
  std::string_view component;
  std::int64_t offset = 0;
  std::uint64_t bits = 0;
  std::vector<Operand> elements;
};

struct Instruction {
  std::string_view predicate;  // register of @p, empty if none
  bool predicate_negated = false;
  Opcode opcode = Opcode::kUnknown;
  std::vector<Modifier> modifiers;  // in the order written
  std::string_view mnemonic;        // both as written: "ld.global.u32", with spaces and comments
  std::vector<Operand> operands;    // for call: [return list,] callee, [argument list, [prototype]]

  [[nodiscard]] bool has(Modifier modifier) const;
  // `text`, without spaces, becomes the opcode and the modifiers.
  void set_mnemonic(std::string_view text);
  // The type of the last modifier but `from_last`, kNone where that is none.
  [[nodiscard]] ScalarType last_type(std::size_t from_last = 0) const;
};

// .reg .b32 %r<5>, %a;   .shared .align 4 .b8 s[256];   .param .u64 p
struct Variable {
  StateSpace space = StateSpace::kNone;
  ScalarType type = ScalarType::kNone;
  std::uint8_t vector = 1;  // .v2, .v4
  std::uint32_t align = 0;  // 0: natural
  std::string_view name;
  std::uint32_t range = 0;  // %r<range>: %r0 … ; 0: a single name
  bool is_array = false;
  std::uint64_t elements = 1;  // 0: sym[] (extern)
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false;
  bool is_managed = false;
  // Global and const initialisers, element by element: an integer or float operand, a symbol (with
  // offset; generic(sym) has `component` "generic"; 0xff00(sym) has "mask", 0xff00(generic(sym))
  // "mask.generic", with the mask in `bits`), nested lists flattened. Empty or short: zeros.
  std::vector<Operand> initializer;
  // The bytes it occupies: elements * vector * size_of(type).
  [[nodiscard]] std::uint64_t size() const;
};

// .loc file line column[, function_name label[+offset], inlined_at file line column]
struct Location {
  std::uint32_t file = 0, line = 0, column = 0;
  std::string_view function_label;  // into .debug_str; empty if not inlined
  std::uint32_t function_offset = 0;
  std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

enum class StatementKind : std::uint8_t {
  kVersion,
  kTarget,
  kAddressSize,  // .version 9.0 …: text
  kFile,         // .file: file_index, file_name
  kVariable,     // variables (one or more)
  kFunction,     // .entry or .func header up to its '{' or ';': function index
  kBlockOpen,
  kBlockClose,  // bodies and nested blocks
  kInstruction,
  kLabel,     // label
  kLocation,  // .loc
  kBranchTargets,
  kCallTargets,
  kCallPrototype,  // label holds the name before the colon
  kPragma,
  kSection,  // .section … { … }, verbatim; label: its name
  kOther,    // any other directive, verbatim
};

struct Statement {
  StatementKind kind = StatementKind::kOther;
  Position position;
  std::string_view text;  // verbatim, without surrounding white space; printing uses only this
  std::string_view label;
  Instruction instruction;
  std::vector<Variable> variables;
  Location location;
  std::uint32_t file_index = 0;
  std::string_view file_name;
  std::uint32_t function = 0;                 // kFunction: index into Module::functions
  std::vector<std::string_view> targets;      // kBranchTargets, kCallTargets
  std::vector<Variable> parameters, returns;  // kCallPrototype
};

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] std::uint64_t volume() const { return std::uint64_t{x} * y * z; }

  friend bool operator==(const Extent&, const Extent&) = default;
};

// Nothing: the header does not say.
struct LaunchBounds {
  std::optional<Extent> max_block;         // .maxntid
  std::optional<Extent> required_block;    // .reqntid
  std::optional<Extent> required_cluster;  // .reqnctapercluster
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_extern = false, is_visible = false, is_weak = false;
  bool has_body = false;  // false: a declaration
  std::vector<Variable> parameters;
  std::vector<Variable> returns;
  std::vector<std::string_view> attributes;  // ".maxntid 256,1,1", ".noreturn" … verbatim
  LaunchBounds bounds;                       // as they say
  // Statement indices: header, the body's kBlockOpen and its kBlockClose (valid if has_body; the
  // largest size_t where there is none). They
  // hold for the module as parsed; call index_functions() after statements were inserted or erased.
  std::size_t header = 0, body_begin = 0, body_end = 0;
};

class Module {
 public:
  Module() = default;
  ~Module() = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::vector<Statement> statements;
  std::vector<Function> functions;  // definitions and declarations, in the order of the text

  std::uint32_t version_major = 0, version_minor = 0;
  std::string_view target;  // "sm_90a" (the first of .target's list)

  // Keeps `text` alive as long as the module and returns a view of it.
  std::string_view own(std::string text);
  // Recomputes Function::{header, body_begin, body_end} from the statements.
  void index_functions();
  // Every function is where its header and its body say.
  [[nodiscard]] bool is_valid() const;
  // The definition of that name, else its declaration, else null.
  [[nodiscard]] const Function* find_function(std::string_view name) const;
  // "sm_90a" → 90.
  [[nodiscard]] std::uint32_t target_arch() const;

 private:
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace barracuda::ptx
