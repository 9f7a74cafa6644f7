#include "ptx/hooks/hook_text.h"

#include <iterator>

#include <fmt/format.h>

#include "device_logger/record.h"
#include "device_logger/shared_states.h"
#include "device_logger/symbols.h"
#include "ptx/analysis/constants.h"
#include "ptx/hooks/atomic_result.h"
#include "ptx/hooks/branch_hooks.h"
#include "ptx/hooks/copy_text.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/interval_text.h"
#include "ptx/hooks/shortcut_text.h"
#include "ptx/hooks/texel_hook.h"

namespace barracuda::ptx {
namespace {

// Above the number in __barracuda_release_end's word.
constexpr int kLaneFlagShift = 32;

constexpr std::string_view kDeclareAddress = ".reg .b64 %__barracuda_a;\n";

bool has_value(const PlannedSite& site) {
  return site.info.element_count == 1 && site.info.element_bytes <= 8;
}

// What the instruction reads or writes at once: more than the site where that is part of a word.
std::uint32_t value_bytes(const PlannedSite& site) {
  return site.sub_word.word != 0 ? site.sub_word.word : site.info.element_bytes;
}

// The low bits of the address of bytes of a word.
std::string low_register(const SubWord& sub_word) {
  return fmt::format("%__barracuda_low{}", sub_word.aligned_at);
}

// Of words, their bytes that the site is of.
std::string write_parts(const PlannedSite& site, std::initializer_list<std::string_view> words) {
  if (site.sub_word.word == 0) {
    return {};
  }
  std::string text = fmt::format(
      "{{\n.reg .b32 %__barracuda_h;\ncvt.u32.u64 %__barracuda_h, {};\n"
      "shl.b32 %__barracuda_h, %__barracuda_h, 3;\n",
      low_register(site.sub_word));
  for (const std::string_view word : words) {
    fmt::format_to(std::back_inserter(text),
                   "shr.u64 {0}, {0}, %__barracuda_h;\nand.b64 {0}, {0}, {1};\n", word,
                   (std::uint64_t{1} << (8 * site.sub_word.bytes)) - 1);
  }
  return text + "}\n";
}

std::string write_release_begin(const PlannedSite& site, bool is_generic, HookNames& called) {
  return write_call(called, {.name = "release_begin", .is_generic = is_generic},
                    {b32(site_word(site)), b64("%__barracuda_a")},
                    ".param .align 8 .b8 __barracuda_result[24];\n",
                    "ld.param.b64 %__barracuda_s, [__barracuda_result];\n"
                    "ld.param.b64 %__barracuda_a, [__barracuda_result+8];\n"
                    "ld.param.b64 %__barracuda_n, [__barracuda_result+16];\n");
}

std::string write_release_end(const PlannedSite& site, HookNames& called) {
  return write_call(called, {.name = "release_end"},
                    {b32(site_word(site)), b64("%__barracuda_s"), b64("%__barracuda_a"),
                     b64("%__barracuda_n"), b64("%__barracuda_r"), b64("%__barracuda_w")});
}

// As access_use() has it: what synchronises is always logged, and what asynchronous copies write.
bool may_be_left_out(const PlannedSite& site) {
  return (site_word(site) & (wire::kPlainRead | wire::kPlainWrite)) != 0;
}

std::string add_lane_flags(std::uint32_t flags) {
  return fmt::format("or.b64 %__barracuda_n, %__barracuda_n, {};\n",
                     std::uint64_t{flags} << kLaneFlagShift);
}

// A register of ours for the value that an atomic reads.
constexpr std::string_view kOwnResult = "%__barracuda_d";

// The statement of a reduction as that of the atomic that does the same and says what it read.
std::string write_as_atomic(const Statement& reduction) {
  const Instruction& red = reduction.instruction;
  const auto at = static_cast<std::size_t>(red.mnemonic.data() - reduction.text.data());
  return fmt::format("{}{}{} {},{}", reduction.text.substr(0, at), text_of(Opcode::kAtom),
                     red.mnemonic.substr(text_of(red.opcode).size()), kOwnResult,
                     reduction.text.substr(at + red.mnemonic.size()));
}

// The instruction of that statement.
Instruction as_atomic(Instruction reduction) {
  reduction.operands.insert(reduction.operands.begin(),
                            {.kind = Operand::Kind::kRegister, .text = kOwnResult});
  return reduction;
}

}  // namespace

std::string_view state_hook(const PlannedSite& site) {
  if (site.effect.space == StateSpace::kGlobal) {
    return "owns";
  }
  switch (wire::state_use(site_word(site))) {
    case wire::StateUse::kRead:
      return "keep_load";
    case wire::StateUse::kReduction:
      return "keep_reduction";
    case wire::StateUse::kWrite:
    case wire::StateUse::kLogged:
    case wire::StateUse::kCopy:
      break;
  }
  return "keep_access";
}

HookText HookWriter::write(const PlannedSite& site, const Statement& statement) {
  switch (site.hook) {
    case HookKind::kNone:
      return {};
    case HookKind::kAccess:
      return write_access(site, statement);
    case HookKind::kRelease:
      return write_release(site, statement);
    case HookKind::kAcquire:
      return write_acquire(site, statement);
    case HookKind::kAtomic:
      return write_atomic(site, statement);
    case HookKind::kEvent:
    case HookKind::kCall:
    case HookKind::kReturn:
      return write_event(site, statement);
    case HookKind::kEventAfter: {
      HookText text = write_event(site, statement);
      text.after.swap(text.before);
      return text;
    }
    case HookKind::kBranch:
      return write_branch(site, statement);
    case HookKind::kSwitch:
      return write_switch(site, statement);
    case HookKind::kMeet:
      return write_meet(site);
    case HookKind::kOperands:
      return write_operands(site, statement);
    case HookKind::kTensorCopy:
      return write_tensor_copy(site, statement);
    case HookKind::kWait:
      return write_wait(site, statement);
    case HookKind::kHeap:
      return write_heap(site, statement);
    case HookKind::kTexels: {
      const Predicate predicate = skip_unless(statement.instruction);
      const std::string call = write_texels(
          site, statement,
          [&](std::string_view into, const Operand& operand, std::uint32_t bytes) {
            return write_number(into, operand, bytes);
          },
          called_);
      return call.empty() ? HookText{}
                          : HookText{.before = fmt::format("{{\n{}{}{}}}\n", predicate.before, call,
                                                           predicate.after)};
    }
  }
  return {};
}

// Lanes whose predicate is false go round what stands between the two texts.
HookWriter::Predicate HookWriter::skip_unless(const Instruction& instruction) {
  if (instruction.predicate.empty()) {
    return {};
  }
  const std::uint32_t label = next_label_++;
  return {
      .before = fmt::format("@{}{} bra $__barracuda_skip{};\n",
                            instruction.predicate_negated ? "" : "!", instruction.predicate, label),
      .after = fmt::format("$__barracuda_skip{}:\n", label)};
}

HookWriter::Predicate HookWriter::skip_unless_used(const PlannedSite& site) {
  if (site.use_condition.empty()) {
    return {};
  }
  const std::uint32_t label = next_label_++;
  return {.before = fmt::format("{}@!%__barracuda_u bra $__barracuda_skip{};\n", site.use_condition,
                                label),
          .after = fmt::format("$__barracuda_skip{}:\n", label)};
}

HookWriter::Predicate HookWriter::skip_if(Hook hook,
                                          std::initializer_list<HookArgument> arguments) {
  const std::uint32_t label = next_label_++;
  return {.before = fmt::format("{}@%__barracuda_q bra $__barracuda_skip{};\n",
                                write_question(called_, hook, arguments), label),
          .after = fmt::format("$__barracuda_skip{}:\n", label)};
}

HookWriter::Around HookWriter::skip_if_left_out(const PlannedSite& site, bool is_generic) {
  if (!site.may_be_left_out) {
    return {};
  }
  const std::string question =
      write_question(called_, {.name = "leaves_out", .is_generic = is_generic},
                     {b32(site_word(site)), b64("%__barracuda_a")});
  const std::uint32_t first = next_label_++, second = next_label_++;
  return {.before = {.before = fmt::format(".reg .pred %__barracuda_k;\n{{\n{}"
                                           "mov.pred %__barracuda_k, %__barracuda_q;\n}}\n"
                                           "@%__barracuda_k bra $__barracuda_skip{};\n",
                                           question, first),
                     .after = fmt::format("$__barracuda_skip{}:\n", first)},
          .after = {.before = fmt::format("@%__barracuda_k bra $__barracuda_skip{};\n", second),
                    .after = fmt::format("$__barracuda_skip{}:\n", second)}};
}

HookText HookWriter::write_event(const PlannedSite& site, const Statement& statement) {
  if (site.keeps_copies) {
    const Predicate predicate = skip_unless(statement.instruction);
    return {.before = predicate.before + write_groups(site, statement, called_) + predicate.after};
  }
  const Effect& effect = site.effect;
  std::string detail = "0", threads = "0";
  if (const Operand* barrier = operand_at(statement, effect.barrier_operand)) {
    detail = barrier->text;
  }
  if (const Operand* count = operand_at(statement, effect.count_operand)) {
    threads = count->text;
  }
  if (effect.opcode_class == OpcodeClass::kWarpBarrier) {
    if (const Operand* mask = operand_at(statement, effect.value_operand)) {
      detail = mask->text;
    }
  }
  if (effect.operation == wire::Operation::kAsyncWait) {
    const Operand* groups = operand_at(statement, effect.amount_operand);
    detail = groups == nullptr ? fmt::to_string(wire::kWaitAll) : std::string(groups->text);
  }
  std::string_view hook = site.may_be_quiet ? "optional_event" : "event";
  std::string after;
  if (site.counts_intervals && site.info.operation == wire::Operation::kExit) {
    detail = kInterval;
  } else if (site.counts_intervals) {
    after = write_interval_end(site, next_label_++, called_);
  }
  const Predicate predicate = skip_unless(statement.instruction);
  const HookText logged = !site.is_counted ? HookText{}
                          : site.info.operation == wire::Operation::kBarrier
                              ? skip_unless_logged(statement, detail, next_label_++, called_)
                              : skip_unless_last(next_label_++, called_);
  std::string text = predicate.before.empty() ? "" : "{\n" + predicate.before;
  text += logged.before;
  if (site.in_lockstep) {
    detail = members_of_call(site);
    if (site.hook == HookKind::kCall) {
      fmt::format_to(std::back_inserter(text), "activemask.b32 {};\n", detail);
    } else {
      hook = "meet";
    }
  }
  const std::string event =
      write_call(called_, {.name = hook}, {b32(site_word(site)), b32(detail), b32(threads)});
  if (site.is_of_warp) {
    return write_warp_barrier(site, event, next_label_++, called_);
  }
  text += write_before_event(site, called_);
  text += event + logged.after;
  text += predicate.before.empty() ? "" : predicate.after + "}\n";
  return {.before = text, .after = after};
}

HookText HookWriter::write_access(const PlannedSite& site, const Statement& statement) {
  Predicate interval;
  if (site.in_read_only_interval) {
    interval = {.before = skip_unless_frozen(next_label_),
                .after = fmt::format("$__barracuda_skip{}:\n", next_label_)};
    ++next_label_;
  }
  const Predicate predicate = skip_unless(statement.instruction);
  bool is_generic = false;
  const std::string address =
      write_address(site, statement, is_generic) + write_part(site, statement);
  Predicate shortcut;
  if (site.shortcut) {
    const std::string_view entry = module_.functions[site.function].name;
    shortcut = {.before = skip_by_shortcut(entry, *site.shortcut, next_label_),
                .after = fmt::format("$__barracuda_skip{}:\n", next_label_)};
    ++next_label_;
  }
  std::uint32_t words = 0;
  const bool compares = site.effect.opcode_class == OpcodeClass::kStore &&
                        site.info.order == wire::MemoryOrder::kWeak && !site.stores_constants;
  const std::string values = compares ? write_stored_values(site, statement, words) : std::string{};
  const Predicate use = skip_unless_used(site);
  std::string text = fmt::format("{{\n{}{}{}{}{}{}{}", interval.before, kDeclareAddress,
                                 predicate.before, use.before, address, shortcut.before, values);
  const HookArgument id = b32(site_word(site)), where = b64("%__barracuda_a"),
                     count = b32(std::string(kInterval)), low = b64("%__barracuda_v0"),
                     high = b64(words == 2 ? "%__barracuda_v1" : "0");
  const auto hook = [is_generic](std::string_view name) {
    return Hook{.name = name, .is_generic = is_generic};
  };
  Predicate needless;
  if (site.keeps_copies && site.info.operation == wire::Operation::kWrite) {
    text += write_copy(site, called_);
  } else if (site.counts_intervals && words == 0) {
    // Who comes to the hook of such an interval has to log: to ask would double what ptxas has to
    // compile of an unrolled product.
    if (!site.in_read_only_interval) {
      needless = skip_if(hook(state_hook(site)), {id, where, count});
    }
    text += needless.before;
    text += write_call(called_, hook(of_memory(site, "followed_global_access", "followed_access")),
                       {id, where, count});
  } else if (site.counts_intervals) {
    needless =
        skip_if(hook(of_memory(site, "owns_store", "keep_store")), {id, where, count, low, high});
    text += needless.before;
    text += write_call(called_, hook(of_memory(site, "followed_global_store", "followed_store")),
                       {id, where, count, low, high});
  } else {
    if (may_be_left_out(site)) {
      needless = skip_if(hook("leaves_out"), {id, where});
    }
    text += needless.before;
    text += words == 0   ? write_call(called_, hook("access"), {id, where})
            : words == 1 ? write_call(called_, hook("store"), {id, where, low})
                         : write_call(called_, hook("store_wide"), {id, where, low, high});
  }
  text += note_logged_read(site) + needless.after + shortcut.after;
  text += use.after + predicate.after + interval.after;
  if (site.counts_intervals && is_matrix_access(site.effect)) {
    text += kMeetInWarp;  // some lanes have a piece, and .aligned is of all
  }
  text += "}\n";
  return {.before = text};
}

HookText HookWriter::write_release(const PlannedSite& site, const Statement& statement) {
  const bool is_reduction = site.effect.opcode_class == OpcodeClass::kReduction;
  const bool is_asynchronous = site.info.asynchrony != wire::Asynchrony::kNone;  // no atom does so
  if (is_reduction && !is_asynchronous && has_value(site) &&
      !write_atomic_result(site, as_atomic(statement.instruction)).text.empty()) {
    return write_atomic(site, statement);
  }
  const Predicate predicate = skip_unless(statement.instruction);
  bool is_generic = false;
  const std::string address = write_address(site, statement, is_generic);
  const Around asked = skip_if_left_out(site, is_generic);
  const Operand* stored = operand_at(statement, site.effect.value_operand);
  std::string written;
  if (stored != nullptr && !is_reduction && has_value(site)) {
    written = write_value("%__barracuda_w", *stored, site.info.element_bytes);
  }
  HookText text;
  text.before = fmt::format(
      "{{\n.reg .b64 %__barracuda_a, %__barracuda_s, %__barracuda_n, %__barracuda_r, "
      "%__barracuda_w;\n{}{}{}{}{}mov.b64 %__barracuda_r, 0;\n{}{}",
      predicate.before, address, asked.before.before, write_log_states(site, is_generic, called_),
      write_release_begin(site, is_generic, called_),
      written.empty() ? "mov.b64 %__barracuda_w, 0;\n" : written, asked.before.after);
  text.after = fmt::format("{}{}{}{}{}}}\n", asked.after.before,
                           written.empty() ? "" : add_lane_flags(wire::kLaneHasWritten),
                           write_release_end(site, called_), asked.after.after, predicate.after);
  return text;
}

HookText HookWriter::write_acquire(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  bool is_generic = false;
  std::string address = write_address(site, statement, is_generic);
  address += write_log_states(site, is_generic, called_);
  std::string read;
  if (has_value(site)) {
    read = write_value("%__barracuda_r", statement.instruction.operands[0], value_bytes(site)) +
           write_parts(site, {"%__barracuda_r"});
  }
  HookText text;
  text.before =
      fmt::format("{{\n.reg .b64 %__barracuda_a, %__barracuda_r;\n{}{}", predicate.before, address);
  text.after =
      fmt::format("{}{}{}}}\n", read.empty() ? "mov.b64 %__barracuda_r, 0;\n" : read,
                  write_call(called_, {.name = "acquire", .is_generic = is_generic},
                             {b32(site_word(site)), b64("%__barracuda_a"), b64("%__barracuda_r"),
                              b32(read.empty() ? 0 : wire::kLaneHasRead)}),
                  predicate.after);
  return text;
}

HookText HookWriter::write_atomic(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  bool is_generic = false;
  const std::string address = write_address(site, statement, is_generic);
  const Around asked = skip_if_left_out(site, is_generic);
  const bool is_reduction = site.effect.opcode_class == OpcodeClass::kReduction;
  const Instruction instruction =
      is_reduction ? as_atomic(statement.instruction) : statement.instruction;
  const std::uint32_t bytes = value_bytes(site);
  HookText text;
  std::string read, declared;
  if (has_value(site)) {
    const Operand& destination = instruction.operands[0];
    const bool is_sink = destination.kind == Operand::Kind::kSink;
    if (is_sink) {  // the value read is wanted all the same
      const auto at = static_cast<std::size_t>(destination.text.data() - statement.text.data());
      text.replacement = module_.own(fmt::format("{}{}{}", statement.text.substr(0, at), kOwnResult,
                                                 statement.text.substr(at + 1)));
    } else if (is_reduction) {
      text.replacement = module_.own(write_as_atomic(statement));
    }
    if (is_sink || is_reduction) {
      declared = fmt::format(".reg .b{} {};\n", 8 * bytes, kOwnResult);
      const Operand own{.kind = Operand::Kind::kRegister, .text = kOwnResult};
      read = write_register_value("%__barracuda_r", own, bytes, bytes);
    } else {
      read = write_value("%__barracuda_r", destination, bytes);
    }
  }
  const AtomicResult result =
      read.empty() ? AtomicResult{} : write_atomic_result(site, instruction);
  // Who exchanges bytes of a word by comparing it all writes them, changed or not.
  const bool compares = site.effect.is_cas && site.sub_word.word == 0 && !result.text.empty();
  const std::uint32_t flags = (read.empty() ? 0 : wire::kLaneHasRead) |
                              (result.text.empty() ? 0 : wire::kLaneHasWritten) |
                              (compares ? wire::kLaneCompares : 0);
  text.before = fmt::format(
      "{{\n.reg .b64 %__barracuda_a, %__barracuda_s, %__barracuda_n, %__barracuda_r, "
      "%__barracuda_w;\n{}{}{}{}{}{}{}{}{}",
      declared, result.declarations, predicate.before, address, asked.before.before,
      write_log_states(site, is_generic, called_), write_release_begin(site, is_generic, called_),
      result.before, asked.before.after);
  text.after = fmt::format(
      "{}{}{}{}{}{}{}{}{}}}\n", asked.after.before,
      read.empty() ? "mov.b64 %__barracuda_r, 0;\n" : read,
      result.text.empty() ? "mov.b64 %__barracuda_w, 0;\n" : result.text,
      write_parts(site, {"%__barracuda_r", "%__barracuda_w"}), add_lane_flags(flags),
      write_release_end(site, called_),
      is_reduction ? ""
                   : write_call(called_, {.name = "acquire"},
                                {b32(site_word(site)), b64("%__barracuda_a"), b64("%__barracuda_r"),
                                 b32(flags & wire::kLaneHasRead)}),
      asked.after.after, predicate.after);
  return text;
}

HookText HookWriter::write_heap(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  const bool is_free = site.heap.bytes == nullptr;
  const std::string order = fmt::format("mov.b64 %__barracuda_a, {};\n", wire::kHeapOrder);
  const std::string release =
      write_release_begin(site, false, called_) + write_release_end(site, called_);
  const std::string pointer = write_value("%__barracuda_r", *site.heap.pointer, 8);
  const std::string bytes =
      is_free ? "mov.b64 %__barracuda_w, 0;\n" : write_value("%__barracuda_w", *site.heap.bytes, 8);
  HookText text;
  text.before = fmt::format(
      "{{\n.reg .b64 %__barracuda_a, %__barracuda_s, %__barracuda_n, %__barracuda_r, "
      "%__barracuda_w;\n{}{}",
      predicate.before, bytes);  // before the result: one register may hold both
  if (is_free) {
    text.before += pointer + order + release + predicate.after + "}\n";
  } else {
    text.after = pointer + order +
                 write_call(called_, {.name = "acquire"},
                            {b32(site_word(site)), b64("%__barracuda_a"), b64("0"), b32("0")}) +
                 release + predicate.after + "}\n";
  }
  return text;
}

std::string HookWriter::write_address(const PlannedSite& site, const Statement& statement,
                                      bool& is_generic) const {
  const std::string text = write_place("%__barracuda_a",
                                       {.address = address_of(statement, site.effect),
                                        .space = site.effect.space,
                                        .is_cluster = site.effect.shared_cluster,
                                        .offset = site.offset},
                                       is_generic);
  return site.sub_word.word == 0
             ? text
             : text + fmt::format("or.b64 %__barracuda_a, %__barracuda_a, {};\n",
                                  low_register(site.sub_word));
}

// Before the statement that clears these bits, and that may overwrite the address.
std::string write_low_bits(const SubWord& sub_word, const Statement& alignment) {
  const std::string low = low_register(sub_word);
  return fmt::format("{} {}, {};\nand.b64 {}, {}, {};\n",
                     alignment.instruction.has(Modifier::kB64) ? "mov.b64" : "cvt.u64.u32", low,
                     alignment.instruction.operands[1].text, low, low, sub_word.word - 1);
}

std::string declare_low_bits(const SubWord& sub_word) {
  return fmt::format(".reg .b64 {};\n", low_register(sub_word));
}

std::string HookWriter::write_place(std::string_view into, const Place& place,
                                    bool& is_generic) const {
  const Operand& address = *place.address;
  const bool is_bracketed = address.kind == Operand::Kind::kAddress;
  const Operand& base = is_bracketed ? address.elements[0] : address;
  const std::int64_t offset = address.offset + place.offset;
  is_generic = place.space == StateSpace::kGeneric || place.is_cluster;
  if (place.space == StateSpace::kShared) {
    return write_shared_address(into, base, offset, place.is_cluster);
  }
  const std::string_view move =
      registers_.bytes_of(base) == 4 ? "cvt.u64.u32" : "mov.b64";  // 32-bit: zero-extended
  const std::string_view name = base.kind == Operand::Kind::kSymbol ? base.name : base.text;
  std::string text = fmt::format("{} {}, {};\n", move, into, name);
  if (offset != 0) {
    fmt::format_to(std::back_inserter(text), "add.s64 {0}, {0}, {1};\n", into, offset);
  }
  return text;
}

std::string HookWriter::write_place(std::string_view into, const Place& place,
                                    std::uint32_t generic_flag, std::uint32_t& word) const {
  bool is_generic = false;
  std::string text = fmt::format("{{\n{}}}\n", write_place(into, place, is_generic));
  word |= is_generic ? generic_flag : 0;
  return text;
}

std::string HookWriter::write_shared_address(std::string_view into, const Operand& base,
                                             std::int64_t offset, bool is_cluster) const {
  const std::string_view name = base.kind == Operand::Kind::kSymbol ? base.name : base.text;
  std::string text = ".reg .b32 %__barracuda_o;\n";
  fmt::format_to(std::back_inserter(text), "{} %__barracuda_o, {};\n",
                 registers_.bytes_of(base) == 8 ? "cvt.u32.u64" : "mov.b32", name);
  if (offset != 0) {
    fmt::format_to(std::back_inserter(text), "add.s32 %__barracuda_o, %__barracuda_o, {};\n",
                   static_cast<std::int32_t>(offset));
  }
  if (is_cluster) {
    return text + fmt::format(
                      "cvt.u64.u32 {0}, %__barracuda_o;\n"
                      "cvta.shared::cluster.u64 {0}, {0};\n",
                      into);
  }
  return text + without_rank("%__barracuda_o", arch_) +
         fmt::format(
             "cvt.u64.u32 {0}, %__barracuda_o;\n"
             "or.b64 {0}, {0}, {1};\n",
             into, wire::tagged_address(wire::AddressSpace::kShared, 0));
}

std::string HookWriter::write_stored_values(const PlannedSite& site, const Statement& statement,
                                            std::uint32_t& words) {
  words = 0;
  const Operand* value = operand_at(statement, site.effect.value_operand);
  const std::uint32_t bytes = site.info.element_bytes;
  const std::uint32_t total = bytes * site.info.element_count;
  if (value == nullptr || total > 16) {
    return {};
  }
  if (value->kind != Operand::Kind::kVector) {
    const std::string text = write_value("%__barracuda_v0", *value, bytes);
    words = text.empty() ? 0 : 1;
    return text.empty() ? text : ".reg .b64 %__barracuda_v0;\n" + text;
  }
  std::string text = ".reg .b64 %__barracuda_v0, %__barracuda_v1, %__barracuda_e;\n";
  for (std::uint32_t i = 0; i < value->elements.size(); ++i) {
    const std::uint32_t at = i * bytes;
    const std::string word = fmt::format("%__barracuda_v{}", at / 8);
    const bool is_first = at % 8 == 0;
    const std::string element = write_value(is_first ? std::string_view(word) : "%__barracuda_e",
                                            value->elements[i], bytes);
    if (element.empty()) {
      return {};
    }
    text += element;
    if (!is_first) {
      fmt::format_to(
          std::back_inserter(text),
          "shl.b64 %__barracuda_e, %__barracuda_e, {0};\nor.b64 {1}, {1}, %__barracuda_e;\n",
          at % 8 * 8, word);
    }
  }
  words = total > 8 ? 2 : 1;
  return text;
}

std::string HookWriter::write_value(std::string_view destination, const Operand& operand,
                                    std::uint32_t bytes) const {
  if (const auto bits = bits_of(operand, bytes)) {
    return fmt::format("mov.b64 {}, {};\n", destination, static_cast<std::int64_t>(*bits));
  }
  if (operand.kind == Operand::Kind::kSymbol && bytes == 8) {
    return fmt::format("mov.b64 {}, {};\n", destination, operand.text);
  }
  return write_register_value(destination, operand, registers_.bytes_of(operand), bytes);
}

}  // namespace barracuda::ptx
