// Registers that share a place in the frame: what they hold is what they would hold alone.
#include <array>
#include <random>

#include <fmt/format.h>

#include "emulator/decode/frame_layout.h"
#include "emulator/decode/loaded_module.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

// The bytes of a thread's registers in the function of kernel k with that number.
std::uint32_t lane_bytes(Device& device, std::size_t function = 0) {
  return Machine::find_kernel(device.module(), "k")->program().functions[function]->register_bytes /
         kLanes;
}

std::vector<std::uint64_t> run_lanes(const std::string& body, const std::string& before = "") {
  return test::run_lanes(body, 64, before);
}

constexpr std::uint32_t kWords = 24, kLongs = 12, kPredicates = 6, kOutputs = 3;
constexpr std::uint32_t kMaximumSteps = 5000;

// What a thread's registers hold on the host.
struct Thread {
  std::array<std::uint32_t, kWords> words{};
  std::array<std::uint64_t, kLongs> longs{};
  std::array<bool, kPredicates> predicates{};
};

// One random instruction: as PTX, and what it does. A jump goes to the label of another one.
struct Operation {
  enum class Kind { kWord, kLong, kWiden, kNarrow, kCompare, kSplit, kJump, kIndexed };
  Kind kind = Kind::kWord;
  std::uint32_t d = 0, e = 0, a = 0, b = 0;
  int predicate = -1;
  bool negated = false;
  std::vector<std::uint32_t> targets;

  [[nodiscard]] bool applies(const Thread& thread) const {
    return predicate < 0 || thread.predicates[static_cast<std::size_t>(predicate)] != negated;
  }
};

std::string text_of(const Operation& one, std::size_t index) {
  const std::string guard =
      one.predicate < 0 ? "" : fmt::format("@{}%q{} ", one.negated ? "!" : "", one.predicate);
  const std::string end = ";\n";
  switch (one.kind) {
    case Operation::Kind::kWord:
      return guard + fmt::format("mad.lo.u32 %w{}, %w{}, 5, %w{}", one.d, one.a, one.b) + end;
    case Operation::Kind::kLong:
      return guard + fmt::format("mad.lo.u64 %l{}, %l{}, 3, %l{}", one.d, one.a, one.b) + end;
    case Operation::Kind::kWiden:
      return guard + fmt::format("mov.b64 %l{}, {{%w{}, %w{}}}", one.d, one.a, one.b) + end;
    case Operation::Kind::kNarrow:
      return guard + fmt::format("cvt.u32.u64 %w{}, %l{}", one.d, one.a) + end;
    case Operation::Kind::kCompare:
      return guard + fmt::format("setp.lt.u32 %q{}, %w{}, %w{}", one.d, one.a, one.b) + end;
    case Operation::Kind::kSplit:
      return guard + fmt::format("mov.b64 {{%w{}, %w{}}}, %l{}", one.d, one.e, one.a) + end;
    case Operation::Kind::kJump:
      return guard + fmt::format("bra L{}", one.targets[0]) + end;
    case Operation::Kind::kIndexed: {
      std::string list;
      for (const std::uint32_t target : one.targets) {
        list += fmt::format("{}L{}", list.empty() ? "" : ", ", target);
      }
      return fmt::format("T{}: .branchtargets {};\nand.b32 %index, %w{}, {};\n", index, list, one.a,
                         one.targets.size() - 1) +
             guard + fmt::format("brx.idx %index, T{}", index) + end;
    }
  }
  return {};
}

// The next instruction.
std::size_t apply(const Operation& one, std::size_t index, Thread& thread) {
  if (!one.applies(thread)) {
    return index + 1;
  }
  auto& [words, longs, predicates] = thread;
  const std::uint64_t whole = longs[one.a % kLongs];
  switch (one.kind) {
    case Operation::Kind::kWord:
      words[one.d] = words[one.a] * 5 + words[one.b];
      break;
    case Operation::Kind::kLong:
      longs[one.d] = longs[one.a] * 3 + longs[one.b];
      break;
    case Operation::Kind::kWiden:
      longs[one.d] = words[one.a] | std::uint64_t{words[one.b]} << 32;
      break;
    case Operation::Kind::kNarrow:
      words[one.d] = static_cast<std::uint32_t>(whole);
      break;
    case Operation::Kind::kCompare:
      predicates[one.d] = words[one.a] < words[one.b];
      break;
    case Operation::Kind::kSplit:
      words[one.d] = static_cast<std::uint32_t>(whole);
      words[one.e] = static_cast<std::uint32_t>(whole >> 32);
      break;
    case Operation::Kind::kJump:
      return one.targets[0];
    case Operation::Kind::kIndexed:
      return one.targets[words[one.a] % one.targets.size()];
  }
  return index + 1;
}

std::vector<Operation> random_program(std::mt19937& random, std::uint32_t length) {
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  std::vector<Operation> program;
  for (std::uint32_t i = 0; i < length; ++i) {
    Operation one;
    one.kind = static_cast<Operation::Kind>(below(10) < 8 ? below(6) : 6 + below(2));
    const bool is_long = one.kind == Operation::Kind::kLong;
    const bool to_long = is_long || one.kind == Operation::Kind::kWiden;
    const bool from_long =
        is_long || one.kind == Operation::Kind::kNarrow || one.kind == Operation::Kind::kSplit;
    one.d = below(to_long ? kLongs : one.kind == Operation::Kind::kCompare ? kPredicates : kWords);
    one.e = (one.d + 1 + below(kWords - 1)) % kWords;
    one.a = below(from_long ? kLongs : kWords);
    one.b = below(is_long ? kLongs : kWords);
    one.predicate = below(3) == 0 || one.kind == Operation::Kind::kJump
                        ? static_cast<int>(below(kPredicates))
                        : -1;
    one.negated = below(2) == 0;
    for (int t = 0; t < 4; ++t) {
      // Mostly forward; what goes back may be an endless loop, which the step count ends.
      one.targets.push_back(below(4) == 0 ? below(i + 1) : i + 1 + below(length - i));
    }
    program.push_back(std::move(one));
  }
  return program;
}

// Every register has a value first; at the end some are stored. A thread that has made its steps
// goes to the end from wherever it jumps.
std::string program_text(const std::vector<Operation>& program) {
  std::string body = fmt::format(
      ".reg .b32 %w<{}>, %index, %left;\n.reg .b64 %l<{}>;\n.reg .pred %q<{}>, %over;\n"
      "mov.u32 %left, {};\n",
      kWords, kLongs, kPredicates, kMaximumSteps);
  for (std::uint32_t i = 0; i < kWords; ++i) {
    body += fmt::format("mad.lo.u32 %w{}, %thread, {}, {};\n", i, 2654435761U + i, i * 77);
  }
  for (std::uint32_t i = 0; i < kLongs; ++i) {
    body += fmt::format("mul.wide.u32 %l{}, %w{}, {};\n", i, i, 40503 + i);
  }
  for (std::uint32_t i = 0; i < kPredicates; ++i) {
    body += fmt::format("setp.lt.u32 %q{}, %w{}, %w{};\n", i, i, i + 5);
  }
  for (std::size_t i = 0; i < program.size(); ++i) {
    body += fmt::format("L{}:\n", i);
    if (!program[i].targets.empty() && program[i].kind >= Operation::Kind::kJump) {
      body += "sub.u32 %left, %left, 1;\nsetp.eq.u32 %over, %left, 0;\n@%over bra END;\n";
    }
    body += text_of(program[i], i);
  }
  body += fmt::format("L{}:\nEND:\nmov.u64 %base, %l0;\n", program.size());
  for (std::uint32_t i = 0; i < kOutputs; ++i) {
    body += fmt::format("cvt.u64.u32 %l1, %w{};\nmad.lo.u64 %base, %base, 31, %l1;\n", i);
  }
  return body +
         "selp.u32 %w0, 1, 0, %q0;\ncvt.u64.u32 %l1, %w0;\nadd.u64 %base, %base, %l1;\n"
         "st.global.u64 [%out], %base;\n";
}

std::uint64_t on_host(const std::vector<Operation>& program, std::uint32_t index) {
  Thread thread;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    thread.words[i] = index * (2654435761U + i) + i * 77;
  }
  for (std::uint32_t i = 0; i < kLongs; ++i) {
    thread.longs[i] = std::uint64_t{thread.words[i]} * (40503 + i);
  }
  for (std::uint32_t i = 0; i < kPredicates; ++i) {
    thread.predicates[i] = thread.words[i] < thread.words[i + 5];
  }
  std::uint32_t left = kMaximumSteps;
  for (std::size_t at = 0; at < program.size();) {
    if (program[at].kind >= Operation::Kind::kJump && --left == 0) {
      break;
    }
    at = apply(program[at], at, thread);
  }
  std::uint64_t result = thread.longs[0];
  for (std::uint32_t i = 0; i < kOutputs; ++i) {
    result = result * 31 + thread.words[i];
  }
  return result + (thread.predicates[0] ? 1 : 0);
}

using Stretches = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Stretches stretches_of(const RegisterUses& uses, const std::vector<StepEnd>& ends,
                       std::uint32_t number) {
  Stretches result;
  const auto stretches = uses.stretches(ends);
  for (const Stretch& stretch : stretches[number]) {
    result.emplace_back(stretch.first, stretch.last);
  }
  return result;
}

}  // namespace

TEST_CASE("random programs whose lanes go apart compute what each thread alone computes") {
  std::mt19937 random(7);
  bool shared = false;
  for (int round = 0; round < 60; ++round) {
    const auto program = random_program(random, 20 + static_cast<std::uint32_t>(round) * 3);
    const std::string text = kernel_text(program_text(program));
    Device device(text);
    const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
    device.run_well("k", shape({1}, {64}), out);
    const auto result = device.read<std::uint64_t>(out, 64);
    shared = shared || lane_bytes(device) < kWords * 4 + kLongs * 8;
    for (std::uint32_t i = 0; i < 64; ++i) {
      CAPTURE(round, i, text);
      REQUIRE(result[i] == on_host(program, i));
    }
  }
  REQUIRE(shared);
}

TEST_CASE("a chain of a thousand registers, two of which are alive at a time, takes a few places") {
  std::string body = ".reg .b32 %x<1000>;\nmov.u32 %x0, %thread;\nmov.u32 %x1, 1;\n";
  for (int i = 2; i < 1000; ++i) {
    body += fmt::format("add.u32 %x{}, %x{}, %x{};\n", i, i - 1, i - 2);
  }
  body += "cvt.u64.u32 %d1, %x999;\nst.global.u64 [%out], %d1;\n";
  Device device(kernel_text(body));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
  device.run_well("k", shape({1}, {64}), out);
  std::uint32_t before = 5, last = 1;
  for (int i = 2; i < 1000; ++i) {
    before = std::exchange(last, before + last);
  }
  REQUIRE(device.read<std::uint64_t>(out, 6)[5] == last);
  // Three words, and the two addresses.
  REQUIRE(lane_bytes(device) <= 3 * 4 + 3 * 8);
}

TEST_CASE("values that are kept over a loop do not give their places to those inside") {
  // Ten values are kept, ten more are carried from one turn to the next.
  std::string body = ".reg .b32 %keep<10>, %carry<10>, %inner<100>;\nmov.u32 %r1, 0;\n";
  for (int i = 0; i < 10; ++i) {
    body += fmt::format("add.u32 %keep{}, %thread, {};\nmov.u32 %carry{}, {};\n", i, i * 100, i, i);
  }
  body += "LOOP:\n";
  for (int i = 0; i < 100; ++i) {
    body += fmt::format("mul.lo.u32 %inner{}, %r1, {};\n@%p1 mov.u32 %inner{}, 0;\n", i, i, i);
    body += fmt::format("add.u32 %carry{}, %carry{}, %inner{};\n", i % 10, (i + 1) % 10, i);
  }
  body += "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 7;\n@%p2 bra LOOP;\nmov.u32 %r2, 0;\n";
  for (int i = 0; i < 10; ++i) {
    body +=
        fmt::format("mad.lo.u32 %r2, %r2, 3, %keep{};\nmad.lo.u32 %r2, %r2, 3, %carry{};\n", i, i);
  }
  body = "setp.ne.u32 %p1, %thread, %thread;\n" + body;
  const auto result = run_lanes(body + "cvt.u64.u32 %d1, %r2;\nst.global.u64 [%out], %d1;\n");
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    std::array<std::uint32_t, 10> carry{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (std::uint32_t turn = 0; turn < 7; ++turn) {
      for (std::uint32_t i = 0; i < 100; ++i) {
        carry[i % 10] = carry[(i + 1) % 10] + turn * i;
      }
    }
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 10; ++i) {
      sum = (sum * 3 + thread + i * 100) * 3 + carry[i];
    }
    REQUIRE(result[thread] == sum);
  }
}

TEST_CASE("a caller's registers outlive a call in a loop, and functions pass values in registers") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, %thread;
    mov.u64 %d5, 1;
AGAIN:
    add.u32 %r3, %r1, 3;
    call (%r4, %d6), step, (%r2, %d5, %r3);
    mov.u32 %r2, %r4;
    mov.u64 %d5, %d6;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 bra AGAIN;
    cvt.u64.u32 %d1, %r2;
    add.u64 %d1, %d1, %d5;
    st.global.u64 [%out], %d1;)",
                                R"(
.func (.reg .b32 %a, .reg .b64 %b) step(.reg .b32 %x, .reg .b64 %y, .reg .b32 %z)
{
  .reg .b32 %t<20>;
  .reg .pred %p;
  add.u32 %t1, %x, %z;
  add.u32 %t2, %t1, 1;
  mov.u32 %a, %t2;
  mul.lo.u64 %b, %y, 3;
  setp.gt.u32 %p, %t2, 40;
  @%p ret;
  mul.lo.u32 %t3, %t2, 2;
  mov.u32 %a, %t3;
  add.u64 %b, %b, 1;
  ret;
}
)");
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    std::uint32_t x = thread;
    std::uint64_t y = 1;
    for (std::uint32_t i = 0; i < 5; ++i) {
      x += i + 3 + 1;
      y *= 3;
      y += x > 40 ? 0 : 1;
      x *= x > 40 ? 1 : 2;
    }
    REQUIRE(result[thread] == x + y);
  }
}

TEST_CASE("registers of the same name in sibling blocks, of vectors and of 128 bits are apart") {
  const auto result = run_lanes(R"(
    .reg .v4 .b32 %v;
    .reg .b128 %q, %s;
    mov.u32 %v.x, %thread;
    mov.u32 %v.y, 2;
    mov.u32 %v.z, 3;
    mov.u32 %v.w, 4;
    mov.u64 %d1, 100;
    mov.u64 %d2, 200;
    mov.b128 %q, {%d1, %d2};
    {
      .reg .b32 %t<3>;
      mov.u32 %t1, 50;
      add.u32 %r1, %v.x, %t1;
      {
        .reg .b64 %t<3>;
        cvt.u64.u32 %t1, %r1;
        shl.b64 %t2, %t1, 8;
        add.u64 %d3, %t1, %t2;
      }
      add.u32 %r2, %t1, %v.w;
    }
    mov.b128 %s, %q;
    mov.b128 {%d4, %d5}, %s;
    add.u64 %d3, %d3, %d4;
    add.u64 %d3, %d3, %d5;
    cvt.u64.u32 %d6, %r2;
    add.u64 %d3, %d3, %d6;
    st.global.u64 [%out], %d3;)");
  for (std::uint64_t thread = 0; thread < 64; ++thread) {
    REQUIRE(result[thread] == (thread + 50) * 257 + 300 + 54);
  }
}

TEST_CASE("a sum with carries over several instructions keeps the carry") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, 0xffffffff;
    add.cc.u32 %r2, %r1, %thread;
    setp.lt.u32 %p1, %thread, 3;
    mov.u32 %r3, 7;
    addc.cc.u32 %r4, %r1, 0;
    selp.u32 %r5, %r3, 0, %p1;
    addc.u32 %r6, %r5, 0;
    mov.b64 %d1, {%r6, %r4};
    st.global.u64 [%out], %d1;)");
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    const std::uint32_t first = thread > 0 ? 1 : 0;
    REQUIRE(result[thread] >> 32 == std::uint32_t{0xffffffff} + first);
    REQUIRE(static_cast<std::uint32_t>(result[thread]) == (thread < 3 ? 7 : 0) + first);
  }
}

TEST_CASE("a predicate cannot be passed to a function") {
  Device device(kernel_text("call nothing, (%p1);", R"(
.func nothing(.reg .b32 %x)
{
  ret;
}
)"));
  const DeviceError error = device.run("k", shape({1}, {32}), device.buffer(std::vector<int>(2)));
  REQUIRE(error.code == DeviceErrorCode::kIllegalInstruction);
  REQUIRE(error.message.find("argument %p1") != std::string::npos);
}

TEST_CASE("a register is wanted from its write to its last read, around loops too") {
  RegisterUses uses;
  const std::uint32_t kept = uses.add(RegisterClass::kWord), inner = uses.add(RegisterClass::kWord),
                      unread = uses.add(RegisterClass::kWord),
                      carried = uses.add(RegisterClass::kWord);
  uses.next_step();  // 1
  uses.write(kept, true);
  uses.next_step();  // 2: the loop
  uses.write(inner, true);
  uses.next_step();  // 3
  uses.read(inner);
  uses.read(carried);
  uses.write(unread, true);
  uses.next_step();  // 4
  uses.write(carried, true);
  uses.next_step();  // 5: back to 2
  uses.next_step();  // 6
  uses.read(kept);
  uses.next_step();  // 7
  std::vector<StepEnd> ends(uses.steps());
  ends[5].targets = {2};
  ends[7].goes_on = false;
  REQUIRE(stretches_of(uses, ends, kept) == Stretches{{1, 6}});
  REQUIRE(stretches_of(uses, ends, inner) == Stretches{{2, 3}});
  REQUIRE(stretches_of(uses, ends, unread) == Stretches{{3, 3}});
  // The loop's first turn reads what nobody wrote; from then on it comes from the last.
  REQUIRE(stretches_of(uses, ends, carried) == Stretches{{2, 5}});
}

TEST_CASE("a write under a predicate keeps what was there, and a whole write does not") {
  RegisterUses uses;
  const std::uint32_t one = uses.add(RegisterClass::kWord), two = uses.add(RegisterClass::kWord);
  uses.next_step();  // 1
  uses.write(one, true);
  uses.write(two, true);
  uses.next_step();  // 2
  uses.next_step();  // 3
  uses.write(one, false);
  uses.write(two, true);
  uses.next_step();  // 4
  uses.read(one);
  uses.read(two);
  const std::vector<StepEnd> ends(uses.steps());
  REQUIRE(stretches_of(uses, ends, one) == Stretches{{1, 4}});
  REQUIRE(stretches_of(uses, ends, two) == Stretches{{1, 1}, {3, 4}});
}

TEST_CASE("values of the two ways of a branch share a place, what is read behind both does not") {
  RegisterUses uses;
  const std::uint32_t left = uses.add(RegisterClass::kWord), right = uses.add(RegisterClass::kWord),
                      both = uses.add(RegisterClass::kWord),
                      wide = uses.add(RegisterClass::kDoubleWord);
  uses.next_step();  // 1: to 4
  uses.next_step();  // 2
  uses.write(left, true);
  uses.next_step();  // 3: to 6
  uses.read(left);
  uses.write(both, true);
  uses.next_step();  // 4
  uses.write(right, true);
  uses.write(wide, true);
  uses.next_step();  // 5
  uses.read(right);
  uses.write(both, true);
  uses.next_step();  // 6
  uses.read(both);
  std::vector<StepEnd> ends(uses.steps());
  ends[1].targets = {4};
  ends[3] = {.targets = {6}, .goes_on = false};
  const auto stretches = uses.stretches(ends);
  REQUIRE(stretches_of(uses, ends, both) == Stretches{{3, 3}, {5, 6}});
  const FrameLayout layout = lay_out_frame(uses.classes(), stretches, uses.steps());
  REQUIRE(layout.slots[left] == layout.slots[right]);
  REQUIRE(layout.slots[both] != layout.slots[left]);
  // Lanes that stand at different steps must not reach each other's parts.
  REQUIRE(layout.slots[wide] + 256 <= layout.slots[left]);
  REQUIRE(layout.bytes == 256 + 2 * 128);
}
