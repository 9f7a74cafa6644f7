// Every load, store and atomic of ptx_forms.tsv in its space: what it reads, what it writes, which
// bytes it leaves alone, in a full and in a partial warp.
#include <bit>
#include <cstring>
#include <functional>
#include <random>

#include "tests/unit/emulator/memory_reference.h"

using namespace barracuda::emulator;        // NOLINT(google-build-using-namespace)
using namespace barracuda::emulator::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr u32 kThreads = 40;
constexpr u32 kCell = 32;  // bytes of memory a thread has

std::vector<std::byte> some_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

u64 load(const std::byte* from, std::size_t size) {
  u64 value = 0;
  std::memcpy(&value, from, size);
  return value;
}

std::string joined(u32 count, const std::function<std::string(u32)>& one) {
  std::string text;
  for (u32 i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + one(i);
  }
  return count == 1 ? text : "{" + text + "}";
}

// The registers that hold a case's elements, from the given number on.
std::string registers(const MemoryCase& form, u32 first) {
  const u32 count = form.is_packed ? form.count / 2 : form.count;
  const bool is_half = form.is_atomic && form.element.bits == 16 && !form.is_packed;
  const char* kind = form.element.bits == 64   ? form.element.is_float() ? "%fd" : "%d"
                     : form.element.is_float() ? "%f"
                     : is_half                 ? "%h"
                                               : "%r";
  return joined(count, [&](u32 i) { return fmt::format("{}{}", kind, first + i); });
}

std::string constant_table(const std::vector<std::byte>& bytes) {
  std::string text = fmt::format(".const .align 16 .b8 table[{}] = {{", bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<unsigned>(bytes[i]));
  }
  return text + "};\n";
}

// %d30: in `copy` the thread's cell of the input, in `place` that of the space; %cell its offset.
std::string copy_cell(const char* to, const char* from) {
  return fmt::format(
      "  ld.{1}.v2.u64 {{%d20, %d21}}, [%d30]; st.{0}.v2.u64 [%d31], {{%d20, %d21}};\n"
      "  ld.{1}.v2.u64 {{%d20, %d21}}, [%d30+16]; st.{0}.v2.u64 [%d31+16], {{%d20, %d21}};\n",
      to, from);
}

// Kernel k(in, cells, results, parameters[64]): a thread's cell lies at %d30 (in) and %d31 (its
// space), its results at %d32.
std::string kernel(const MemoryCase& form, const std::string& body, const std::string& before) {
  std::string place = "  add.u64 %d31, %cells, %cell;\n";
  if (form.space == Space::kShared) {
    place = "  mov.u64 %d31, box; add.u64 %d31, %d31, %cell;\n";
  } else if (form.space == Space::kLocal) {
    place = "  mov.u64 %d31, own;\n";
  } else if (form.space == Space::kConstant) {
    place = "  mov.u64 %d31, table; add.u64 %d31, %d31, %cell;\n";
  }
  return ".version 9.0\n.target sm_100\n.address_size 64\n" + before +
         fmt::format(R"(.shared .align 16 .b8 box[{0}];
.visible .entry k(.param .u64 in, .param .u64 cells, .param .u64 results,
                  .param .align 16 .b8 parameters[64])
{{
  .local .align 16 .b8 own[{1}];
  .reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<20>;
  .reg .b64 %d<40>; .reg .f64 %fd<20>; .reg .b64 %cells, %cell; .reg .b32 %thread;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %cell, %thread, {1};
  ld.param.u64 %d30, [in];
  add.u64 %d30, %d30, %cell;
  ld.param.u64 %cells, [cells];
  ld.param.u64 %d32, [results];
  add.u64 %d32, %d32, %cell;
)",
                     kThreads * kCell, kCell) +
         place + body + "  ret;\n}\n";
}

struct Parameters {
  u64 in = 0, cells = 0, results = 0;
  alignas(16) std::byte bytes[64] = {};
};

const char* name_of(Space space) {
  return space == Space::kShared ? "shared" : space == Space::kLocal ? "local" : "global";
}

bool has_own_place(Space space) {
  return space == Space::kShared || space == Space::kLocal;
}

// Runs a kernel over the input and gives the cells and the results.
std::pair<std::vector<std::byte>, std::vector<std::byte>> run(const std::string& text,
                                                              const std::vector<std::byte>& in,
                                                              const std::vector<std::byte>& cells) {
  Device device(text);
  Parameters parameters;
  parameters.in = device.buffer(in);
  parameters.cells = device.buffer(cells);
  parameters.results = device.buffer(std::vector<std::byte>(cells.size()));
  std::memcpy(parameters.bytes, in.data(), sizeof(parameters.bytes));
  INFO(text);
  device.run_well("k", shape({1}, {kThreads}), parameters);
  return {device.read<std::byte>(parameters.cells, cells.size()),
          device.read<std::byte>(parameters.results, cells.size())};
}

// What a register of 64 bits holds after a load into one of 32 or 64.
u64 extended(Scalar type, u64 raw) {
  if (type.kind == 's' && type.bits < 32) {
    const int unused = 32 - type.bits;
    return static_cast<u32>(static_cast<s32>(static_cast<u32>(raw) << unused) >> unused);
  }
  return raw;
}

void check_load(const MemoryCase& form) {
  const std::vector<std::byte> in = some_bytes(std::size_t{kThreads} * kCell);
  const bool is_parameter = form.space == Space::kParameter;
  std::string body = has_own_place(form.space) ? copy_cell(name_of(form.space), "global") : "";
  const std::string address = is_parameter                     ? "parameters+16"
                              : form.space == Space::kConstant ? "%d31"
                              : has_own_place(form.space)      ? "%d31"
                                                               : "%d30";
  body += fmt::format("  {} {}, [{}];\n", form.text, registers(form, 1), address);
  for (u32 i = 0; i < form.count; ++i) {
    const bool wide = form.element.bits == 64;
    body += fmt::format("  st.global.{} [%d32+{}], {}{};\n",
                        form.element.is_float() ? wide ? "f64" : "f32"
                        : wide                  ? "u64"
                                                : "u32",
                        i * 8,
                        form.element.is_float() ? wide ? "%fd" : "%f"
                        : wide                  ? "%d"
                                                : "%r",
                        i + 1);
  }
  const auto before = form.space == Space::kConstant ? constant_table(in) : std::string();
  const auto results = run(kernel(form, body, before), in, in).second;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < form.count; ++i) {
      const std::size_t from = (is_parameter ? 16 : thread * kCell) + i * form.element.bytes();
      INFO(form.text << " thread " << thread << " element " << i);
      REQUIRE(load(&results[thread * kCell + i * 8], 8) ==
              extended(form.element, load(&in[from], form.element.bytes())));
    }
  }
}

std::string load_operands(const MemoryCase& form, const char* address, u32 first_register) {
  std::string body;
  const u32 count = form.is_packed ? form.count / 2 : form.count;
  for (u32 i = 0; i < count; ++i) {
    const u32 number = first_register + i;
    const u32 size = form.is_packed ? 4 : static_cast<u32>(form.element.bytes());
    const bool is_half = form.is_atomic && form.element.bits == 16 && !form.is_packed;
    body += size == 8 ? fmt::format("  ld.global.u64 %d{0}, [{1}+{2}]; mov.b64 %fd{0}, %d{0};\n",
                                    number, address, i * 8)
            : is_half ? fmt::format("  ld.global.u16 %h{}, [{}];\n", number, address)
                      : fmt::format("  ld.global.u{3} %r{0}, [{1}+{2}]; mov.b32 %f{0}, %r{0};\n",
                                    number, address, i * size, size * 8);
  }
  return body;
}

// The kernel stores a thread's first bytes to its cell at offset 0 or, where there is room, 8.
void check_store(const MemoryCase& form) {
  const std::vector<std::byte> in = some_bytes(std::size_t{kThreads} * kCell);
  std::vector<std::byte> cells(in.size(), std::byte{0xa5});
  std::string body = load_operands(form, "%d30", 1), before;
  const u32 offset = form.bytes() <= 8 ? 8 : 0;
  if (form.space == Space::kParameter) {
    before = R"(.func (.param .align 16 .b8 back[32]) handed(.param .align 16 .b8 given[32])
{
  .reg .b64 %d<4>;
  ld.param.v2.b64 {%d0, %d1}, [given];
  ld.param.v2.b64 {%d2, %d3}, [given+16];
  st.param.v2.b64 [back], {%d0, %d1};
  st.param.v2.b64 [back+16], {%d2, %d3};
  ret;
}
)";
    body += fmt::format(R"(  .param .align 16 .b8 passed[32];
  .param .align 16 .b8 returned[32];
  mov.u64 %d20, 0xa5a5a5a5a5a5a5a5;
  st.param.v2.b64 [passed], {{%d20, %d20}};
  st.param.v2.b64 [passed+16], {{%d20, %d20}};
  {} [passed+{}], {};
  call.uni (returned), handed, (passed);
  ld.param.v2.b64 {{%d20, %d21}}, [returned];
  st.global.v2.u64 [%d31], {{%d20, %d21}};
  ld.param.v2.b64 {{%d20, %d21}}, [returned+16];
  st.global.v2.u64 [%d31+16], {{%d20, %d21}};
)",
                        form.text, offset, registers(form, 1));
  } else if (has_own_place(form.space)) {
    body += "  mov.u64 %d20, 0xa5a5a5a5a5a5a5a5;\n";
    for (u32 i = 0; i < kCell; i += 8) {
      body += fmt::format("  st.{}.u64 [%d31+{}], %d20;\n", name_of(form.space), i);
    }
    body += fmt::format("  {} [%d31+{}], {};\n", form.text, offset, registers(form, 1));
    body += "  mov.u64 %d30, %d31; add.u64 %d31, %cells, %cell;\n";
    body += copy_cell("global", name_of(form.space));
  } else {
    body += fmt::format("  {} [%d31+{}], {};\n", form.text, offset, registers(form, 1));
  }
  const auto written = run(kernel(form, body, before), in, cells).first;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    std::memcpy(&cells[thread * kCell + offset], &in[thread * kCell], form.bytes());
  }
  INFO(form.text);
  REQUIRE(written == cells);
}

// Small whole numbers, which every type sums exactly and whatever the order.
u64 small_number(Scalar type, u32 number) {
  const auto value = static_cast<float>(number % 9) - 3;
  return type.kind == 'h'                      ? std::bit_cast<u16>(static_cast<_Float16>(value))
         : type.bits == 16 && type.kind == 'b' ? std::bit_cast<u32>(value) >> 16
         : !type.is_float()                    ? u64{number * 2654435761U} << (type.bits - 32)
         : type.bits == 32                     ? bits(value)
                                               : bits(static_cast<double>(value));
}

// A cas of 16 bits compares bits, as those of 32 and 64.
u64 operand(const MemoryCase& form, u32 number) {
  if (form.operation == "cas" || form.operation == "exch") {
    return (u64{number} * 0x9e3779b97f4a7c15U) >> (64 - form.element.bits);
  }
  const u64 value = small_number(form.element, number);
  return form.operation == "inc" || form.operation == "dec" ? value % 5 : value;
}

struct AtomicOperands {
  std::vector<std::byte> in, cells, wanted, old;
};

// Each thread has a cell of its own: b at 0, c at 16 of the input.
AtomicOperands atomic_operands(const MemoryCase& form) {
  AtomicOperands all;
  const std::size_t bytes = std::size_t{kThreads} * kCell;
  all.in.resize(bytes);
  all.cells.resize(bytes, std::byte{0x5a});
  all.wanted = all.cells;
  all.old.resize(bytes);
  const std::size_t size = form.element.bytes();
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < form.count; ++i) {
      const std::size_t at = thread * kCell + i * size;
      const u64 b = operand(form, thread * 3 + i), c = operand(form, thread + 77);
      const bool same = form.operation == "cas" && thread % 2 == 0;
      const u64 old = same ? b : operand(form, thread * 5 + i + 1);
      std::memcpy(&all.in[at], &b, size);
      std::memcpy(&all.in[at + 16], &c, size);
      std::memcpy(&all.cells[at], &old, size);
      const u64 next = atomic_result(form, old, b, c);
      std::memcpy(&all.wanted[at], &next, size);
      std::memcpy(&all.old[at], &old, size);
    }
  }
  return all;
}

std::string atomic_statement(const MemoryCase& form, const std::string& address) {
  std::string body = "  " + form.text + " ";
  body += form.returns ? registers(form, 9) + ", " : "";
  body += "[" + address + "], " + registers(form, 1);
  return body + (form.operation == "cas" ? ", " + registers(form, 5) : "") + ";\n";
}

std::string store_old(const MemoryCase& form) {
  if (!form.returns) {
    return "";
  }
  const u32 elements = form.is_packed ? form.count / 2 : form.count;
  const u32 size = static_cast<u32>(form.bytes()) / elements;
  const bool wide = size == 8;
  const std::string type =
      form.element.is_float() ? wide ? "f64" : "f32" : fmt::format("b{}", size * 8);
  const std::string vector = elements == 1 ? "" : fmt::format("v{}.", elements);
  return fmt::format("  st.global.{}{} [%d32], {};\n", vector, type, registers(form, 9));
}

void check_atomic(const MemoryCase& form) {
  const AtomicOperands all = atomic_operands(form);
  const bool shared = form.space == Space::kShared;
  std::string body = load_operands(form, "%d30", 1);
  body += "  add.u64 %d29, %d30, 16;\n" + load_operands(form, "%d29", 5);
  if (shared) {
    body += "  add.u64 %d30, %cells, %cell;\n" + copy_cell("shared", "global");
  }
  body += atomic_statement(form, "%d31") + store_old(form);
  if (shared) {
    body += "  mov.u64 %d30, %d31; add.u64 %d31, %cells, %cell;\n" + copy_cell("global", "shared");
  }
  const auto [cells, old] = run(kernel(form, body, ""), all.in, all.cells);
  INFO(form.text);
  REQUIRE(cells == all.wanted);
  if (form.returns) {
    REQUIRE(old == all.old);
  }
}

// All threads update the first one's cell, with operations whose order does not matter.
void check_contended(const MemoryCase& form) {
  static const std::set<std::string> any_order = {"add", "min", "max", "and", "or", "xor"};
  if (!any_order.contains(form.operation) || form.space == Space::kShared) {
    return;
  }
  AtomicOperands all = atomic_operands(form);
  const std::size_t size = form.element.bytes();
  std::vector<std::byte> wanted = all.cells;
  for (u32 thread = 0; thread < kThreads; ++thread) {
    for (u32 i = 0; i < form.count; ++i) {
      const u64 next = atomic_result(form, load(&wanted[i * size], size),
                                     load(&all.in[thread * kCell + i * size], size), 0);
      std::memcpy(&wanted[i * size], &next, size);
    }
  }
  const std::string body = load_operands(form, "%d30", 1) + atomic_statement(form, "%cells");
  INFO(form.text << " of all threads");
  REQUIRE(run(kernel(form, body, ""), all.in, all.cells).first == wanted);
}

}  // namespace

TEST_CASE("every used load, store and atomic moves the bytes that it names") {
  std::size_t loads = 0, stores = 0, atomics = 0;
  for (const UsedForm& used : read_forms()) {
    const auto form = memory_case(used);
    if (!form || is_excluded(used)) {
      continue;
    }
    if (form->is_atomic) {
      check_atomic(*form);
      check_contended(*form);
      ++atomics;
    } else if (form->operation == "ld") {
      check_load(*form);
      ++loads;
    } else {
      check_store(*form);
      ++stores;
    }
  }
  REQUIRE(loads > 100);
  REQUIRE(stores > 60);
  REQUIRE(atomics > 120);
}
