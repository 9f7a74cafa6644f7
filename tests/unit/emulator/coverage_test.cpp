// Every form of ptx_forms.tsv must decode and have a test against values computed on the host, but
// for those that is_excluded() names.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"
#include "tests/unit/emulator/memory_reference.h"
#include "tests/unit/emulator/register_reference.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::is_excluded;
using test::read_forms;
using test::UsedForm;
namespace ptx = barracuda::ptx;

namespace {

std::string register_of(ptx::ScalarType type, int& number) {
  if (type == ptx::ScalarType::kPred) {
    return fmt::format("%p{}", number++);
  }
  const std::uint32_t size = ptx::size_of(type);
  const char* kind = size == 16 ? "%q" : size == 8 ? "%d" : size == 4 ? "%r" : "%h";
  return fmt::format("{}{}", kind, number++);
}

std::vector<ptx::ScalarType> types_of(const UsedForm& form) {
  std::vector<ptx::ScalarType> types;
  for (const std::string& word : form.words) {
    if (const auto type = ptx::type_of(ptx::find_modifier(word)); type != ptx::ScalarType::kNone) {
      types.push_back(type);
    }
  }
  if (types.empty()) {
    types.push_back(ptx::ScalarType::kB32);
  }
  return types;
}

std::string vector_of(ptx::ScalarType type, int count, int& number) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + register_of(type, number);
  }
  return text + "}";
}

// Registers of a wmma fragment: 32-bit words, or values of the type.
std::string fragment(const UsedForm& form, char which, int& number) {
  using enum ptx::ScalarType;
  if (form.has("f64")) {
    return vector_of(kF64, which == 'c' ? 2 : 1, number);
  }
  const bool small = form.has("u8") || form.has("s8") || form.has("bf16") || form.has("tf32");
  const bool halves = !form.has("f32") && !form.has("s32") && !small;
  const int inputs = form.has("u8") || form.has("s8") ? 2 : small ? 4 : 8;
  return vector_of(kB32, which != 'c' ? inputs : halves ? 4 : 8, number);
}

std::string vector_or_register(const UsedForm& form, ptx::ScalarType type, int& number) {
  for (const int count : {2, 4, 8}) {
    if (form.has(fmt::format("v{}", count))) {
      return vector_of(type, count, number);
    }
  }
  return register_of(type, number);
}

// T, S: registers of the first and last type; V: a vector of the first, W: one of its double width;
// P, H, R, D, Q: of that kind; A, B, C: fragments. Everything else is written as it is.
std::string with_registers(const UsedForm& form, std::string_view pattern) {
  using enum ptx::ScalarType;
  const auto types = types_of(form);
  int number = 1;
  std::string text;
  for (const char c : pattern) {
    const auto wide = ptx::size_of(types.front()) == 4 ? kB64 : kB32;
    switch (c) {
      case 'T':
        text += register_of(types.front(), number);
        break;
      case 'S':
        text += register_of(types.back(), number);
        break;
      case 'V':
        text += vector_or_register(form, types.back(), number);
        break;
      case 'W':
        text += register_of(wide, number);
        break;
      case 'P':
        text += register_of(kPred, number);
        break;
      case 'H':
        text += register_of(kB16, number);
        break;
      case 'R':
        text += register_of(kB32, number);
        break;
      case 'D':
        text += register_of(kB64, number);
        break;
      case 'A':
        text += fragment(form, 'a', number);
        break;
      case 'C':
        text += fragment(form, 'c', number);
        break;
      default:
        text += c;
        break;
    }
  }
  return text;
}

// By the words that a form begins with; the longest that fits counts.
const std::map<std::string, std::string_view>& patterns() {
  static const std::map<std::string, std::string_view> table = {
      {"", "T, T"},
      {"add", "T, T, T"},
      {"addc", "T, T, T"},
      {"and", "T, T, T"},
      {"activemask", "R"},
      {"alloca", "D, D"},
      {"applypriority", "[D], 128"},
      {"atom", "V, [D], V"},
      {"bar.arrive", "1, 64"},
      {"bar.red.popc", "R, 0, P"},
      {"bar.red", "P, 0, P"},
      {"bar.sync", "0"},
      {"bar.warp", "-1"},
      {"barrier.cta.red", "R, 0, P"},
      {"barrier.cluster", ""},
      {"barrier.sync", "0"},
      {"bfe", "T, T, R, R"},
      {"bfi", "T, T, T, R, R"},
      {"bfind", "R, T"},
      {"bmsk", "T, T, T"},
      {"bra", "finish"},
      {"brx", "R, table"},
      {"call", "callee, ()"},
      {"clz", "R, T"},
      {"copysign", "T, T, T"},
      {"cp.async", "[R], [D], 16"},
      {"cp.async.bulk.commit_group", ""},
      {"cp.async.bulk.wait_group", "0"},
      {"cp.async.bulk.shared::cluster", "[R], [D], R, [R]"},
      {"cp.async.bulk.global", "[D], [R], R"},
      {"cp.async.bulk.tensor.2d.shared::cluster", "[R], [D, {R, R}], [R]"},
      {"cp.async.bulk.tensor.2d.global", "[D, {R, R}], [R]"},
      {"cp.async.commit_group", ""},
      {"cp.async.mbarrier", "[R]"},
      {"cp.async.wait_all", ""},
      {"cp.async.wait_group", "1"},
      {"cp.reduce", "[D], [R], R"},
      {"cvt", "T, S"},
      {"cvta", "D, D"},
      {"discard", "[D], 128"},
      {"div", "T, T, T"},
      {"dp4a", "R, R, R, R"},
      {"elect", "R|P, -1"},
      {"exit", ""},
      {"fence", ""},
      {"fma", "T, T, T, T"},
      {"getctarank", "R, D"},
      {"griddepcontrol", ""},
      {"isspacep", "P, D"},
      {"ld", "V, [D]"},
      {"ld.param", "V, [parameters]"},
      {"ldmatrix", "{%r1, %r2, %r3, %r4}, [%r5]"},
      {"lop3", "R, R, R, R, 0x1e"},
      {"mad", "T, T, T, T"},
      {"mad.wide", "W, T, T, W"},
      {"madc", "T, T, T, T"},
      {"mapa", "D, D, R"},
      {"match.all", "R|P, T, -1"},
      {"match.any", "R, T, -1"},
      {"max", "T, T, T"},
      {"mbarrier.arrive", "D, [R]"},
      {"mbarrier.arrive.expect_tx", "D, [R], R"},
      {"mbarrier.arrive_drop", "D, [R]"},
      {"mbarrier.expect_tx", "[R], R"},
      {"mbarrier.init", "[R], R"},
      {"mbarrier.inval", "[R]"},
      {"mbarrier.try_wait", "P, [R], D"},
      {"mbarrier.try_wait.parity", "P, [R], R"},
      {"membar", ""},
      {"min", "T, T, T"},
      {"suld.b.2d", "V, [D, {R, R}]"},
      {"sust.b.1d", "[D, {R}], V"},
      {"sust.b.2d", "[D, {R, R}], V"},
      {"sust.b.3d", "[D, {R, R, R, R}], V"},
      {"sust.b.a2d", "[D, {R, R, R, R}], V"},
      {"tex.1d", "{R, R, R, R}, [D, {R}]"},
      {"tex.2d", "{R, R, R, R}, [D, {R, R}]"},
      {"tex.3d", "{R, R, R, R}, [D, {R, R, R, R}]"},
      {"tex.a2d", "{R, R, R, R}, [D, {R, R, R, R}]"},
      {"tex.level.2d", "{R, R, R, R}, [D, {R, R}], R"},
      {"tld4", "{R, R, R, R}, [D, {R, R}]"},
      {"mma", "{%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4}"},
      {"mul", "T, T, T"},
      {"mul.wide", "W, T, T"},
      {"nanosleep", "R"},
      {"or", "T, T, T"},
      {"popc", "R, T"},
      {"prefetch", "[D]"},
      {"prmt", "R, R, R, R"},
      {"red", "[D], V"},
      {"red.async", "[R], R, [R]"},
      {"redux", "R, R, -1"},
      {"rem", "T, T, T"},
      {"ret", ""},
      {"sad", "T, T, T, T"},
      {"selp", "T, T, T, P"},
      {"set", "T, S, S"},
      {"setmaxnreg", "64"},
      {"setp", "P, T, T"},
      {"shf", "R, R, R, R"},
      {"shfl", "R|P, R, R, 31, -1"},
      {"shl", "T, T, R"},
      {"shr", "T, T, R"},
      {"st", "[D], V"},
      {"st.async", "[R], R, [R]"},
      {"st.param", "[passed], V"},
      {"stmatrix", "[%r1], {%r2, %r3}"},
      {"sub", "T, T, T"},
      {"subc", "T, T, T"},
      {"trap", ""},
      {"vabsdiff4", "R, R, R, R"},
      {"vote.ballot", "R, P, -1"},
      {"vote.sync.ballot", "R, P, -1"},
      {"vote", "P, P, -1"},
      {"wgmma.commit_group", ""},
      {"wgmma.fence", ""},
      {"wgmma.mma_async", "{%r1, %r2, %r3, %r4}, %d1, %d2, %p1, 1, 1, 0, 0"},
      {"wgmma.wait_group", "0"},
      {"wmma.load", "A, [D], R"},
      {"wmma.load.c", "C, [D], R"},
      {"wmma.mma", "C, A, A, C"},
      {"wmma.store", "[D], C, R"},
      {"xor", "T, T, T"},
      {"xor.pred", "P, P, P"},
  };
  return table;
}

std::string statement(const UsedForm& form) {
  const UsedForm& used = form;
  std::string_view pattern;
  std::string prefix;
  pattern = patterns().at("");
  for (const std::string& word : used.words) {
    prefix += (prefix.empty() ? "" : ".") + word;
    if (const auto found = patterns().find(prefix); found != patterns().end()) {
      pattern = found->second;
    }
  }
  std::string operands = with_registers(used, pattern);
  if ((used.words[0] == "atom") && used.has("cas")) {
    operands += used.has("b128")  ? ", %q9"
                : used.has("b64") ? ", %d9"
                : used.has("b16") ? ", %h9"
                                  : ", %r9";
  } else if (used.text.starts_with("wmma.mma") && !used.has("f64") && !used.has("s32") &&
             !used.has("bf16") && !used.has("tf32")) {
    // The types of d and c alone: a and b are halves.
    int number = 1;
    const auto word = ptx::ScalarType::kB32;
    operands = vector_of(word, 8, number) + ", " + vector_of(word, 8, number) + ", " +
               vector_of(word, 8, number) + ", " + vector_of(word, 8, number);
  } else if (used.text.starts_with("cvt.rn.") && used.has("f32") &&
             used.text.find("x2.") != std::string::npos) {
    operands += ", %r8";
  }
  return fmt::format("  {} {};\n", used.text, operands);
}

std::string module_text(const std::vector<UsedForm>& forms) {
  std::string text = R"(.version 9.0
.target sm_90a
.address_size 64
.func callee() { ret; }
.visible .entry k(.param .align 16 .b8 parameters[128])
{
  .reg .pred %p<40>; .reg .b16 %h<40>; .reg .b32 %r<80>; .reg .b64 %d<40>; .reg .b128 %q<10>;
  .param .align 16 .b8 passed[64];
table: .branchtargets finish;
)";
  for (const UsedForm& form : forms) {
    text += is_excluded(form) ? "\n" : statement(form);
  }
  return text + "finish:\n  ret;\n}\n";
}

}  // namespace

TEST_CASE("every instruction form that compiled programs use can be executed") {
  const auto forms = read_forms();
  REQUIRE(forms.size() > 700);
  constexpr std::uint32_t kFirstLine = 10;
  Device device(module_text(forms));
  const LoadedKernel* kernel = Machine::find_kernel(device.module(), "k");
  REQUIRE(kernel != nullptr);
  std::string missing;
  int kinds = 0;
  for (const Refusal& refusal : Machine::refusals(*kernel)) {
    const UsedForm& form = forms.at(refusal.ptx_line - kFirstLine);
    missing += fmt::format("{:6} {} ({}): {}\n", form.occurrences, form.text, refusal.text,
                           refusal.reason);
    ++kinds;
  }
  INFO(missing);
  REQUIRE(kinds == 0);
}

namespace {

bool is_form_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':';
}

// The word of form characters that begins `text`, behind a label and a predicate.
std::string_view first_form(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" (\t"), text.size()));
    if (text.starts_with('@') || text.starts_with('$')) {
      text.remove_prefix(std::min(text.find(' '), text.size()));
      continue;
    }
    const auto end = std::ranges::find_if_not(text, is_form_character);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  }
}

// The forms that a line of a test names: as instructions of its PTX, which end in a semicolon, or
// quoted by themselves, for a PTX text that the test composes. Words of comments and of names of
// tests are neither.
void add_forms(std::string line, std::set<std::string>& forms) {
  line.resize(std::min(line.find("//"), line.size()));
  for (std::size_t at = line.find("\\n"); at != std::string::npos; at = line.find("\\n")) {
    line.replace(at, 2, "  ");
  }
  for (std::size_t begin = 0, end = line.find(';'); end != std::string::npos;
       begin = end + 1, end = line.find(';', begin)) {
    const std::string_view statement = std::string_view(line).substr(begin, end - begin);
    const std::size_t quote = statement.rfind('"');
    forms.emplace(first_form(statement.substr(quote == std::string::npos ? 0 : quote + 1)));
  }
  for (std::size_t begin = line.find('"'); begin != std::string::npos;) {
    const std::size_t end = line.find('"', begin + 1);
    const std::string quoted = line.substr(begin + 1, end - begin - 1);
    if (std::ranges::all_of(quoted, is_form_character)) {
      forms.insert(quoted);
    }
    begin = end;
  }
}

std::set<std::string> forms_of_tests() {
  std::set<std::string> forms;
  for (const auto& entry : std::filesystem::directory_iterator(TESTS_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with("_test.cpp") && name != "coverage_test.cpp") {
      std::ifstream input(entry.path());
      for (std::string line; std::getline(input, line);) {
        add_forms(line, forms);
      }
    }
  }
  return forms;
}

}  // namespace

TEST_CASE("a form has a test where PTX or a table of a test has it, not where prose does") {
  std::set<std::string> forms;
  add_forms(R"(  Device trap(kernel_text("  setp.eq.u32 %p1, %r1, 3;\n  @%p1 trap;"));)", forms);
  add_forms(R"(    mov.b128 {%d4, %d5}, %q;  // then fence.sc.gpu;)", forms);
  add_forms(R"($loop: bar.sync 0; add.u32 %r1, %r1, 1;)", forms);
  add_forms(R"(  for (const char* form : {"membar.gl", "atom.cas.b128"}) {)", forms);
  add_forms(R"(TEST_CASE("what bar.arrive and red.async do is not seen") {)", forms);
  for (const char* form :
       {"setp.eq.u32", "trap", "mov.b128", "bar.sync", "add.u32", "membar.gl", "atom.cas.b128"}) {
    CAPTURE(form);
    CHECK(forms.contains(form));
  }
  for (const char* form : {"fence.sc.gpu", "bar.arrive", "red.async"}) {
    CAPTURE(form);
    CHECK_FALSE(forms.contains(form));
  }
}

// Either the form's result is derived from its words (register_reference.h, memory_reference.h: the
// tests of those run every form for which there is a case), or a test executes it.
TEST_CASE("every instruction form that compiled programs use has a test of its values") {
  const std::set<std::string> named = forms_of_tests();
  std::string untested;
  int derived = 0, written = 0;
  for (const UsedForm& form : read_forms()) {
    if (is_excluded(form)) {
      continue;
    }
    if (test::register_case(form) || test::memory_case(form)) {
      ++derived;
    } else if (named.contains(form.text)) {
      ++written;
    } else {
      untested += fmt::format("{:6} {}\n", form.occurrences, form.text);
    }
  }
  INFO(untested);
  REQUIRE(untested.empty());
  REQUIRE(derived > 500);
  REQUIRE(written > 100);
}
