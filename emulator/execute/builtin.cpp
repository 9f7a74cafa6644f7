// What device code calls and never defines: vprintf, malloc, free, __assertfail. Lanes are served
// one after the other.
#include <bit>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/align.h"
#include "emulator/execute/address.h"
#include "emulator/execute/control.h"
#include "emulator/execute/lanes/lanes.h"
#include "emulator/execute/print_format.h"
#include "emulator/state/cta.h"
#include "emulator/state/launch.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

std::byte* passed_pointer(const Context& c, const Passed& passed, int lane) {
  if (passed.slot == kNoSlot) {
    return c.frame_local + LocalMemory::offset(passed.local_offset, lane);
  }
  std::byte* base = c.bases[passed.slot >> 31] + (passed.slot & ~kConstantSlot);
  return base + static_cast<std::size_t>(lane) * (passed.bytes == 8 ? 8 : 4);
}

std::uint64_t argument(const Context& c, const CallSite& call, std::size_t number, int lane) {
  if (number >= call.arguments.size()) {
    return 0;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, passed_pointer(c, call.arguments[number], lane),
              std::min<std::size_t>(call.arguments[number].bytes, 8));
  return value;
}

void set_result(const Context& c, const CallSite& call, int lane, std::uint64_t value) {
  if (!call.results.empty()) {
    std::memcpy(passed_pointer(c, call.results.front(), lane), &value,
                std::min<std::size_t>(call.results.front().bytes, 8));
  }
}

const CallSite& call_of(const Instruction& in) {
  return *static_cast<const CallSite*>(in.extra);
}

// A string in device memory; what cannot be read ends it.
std::string read_string(Context& c, std::uint64_t address, int lane) {
  std::string text;
  for (constexpr std::size_t kMost = 1 << 16; text.size() < kMost; ++address) {
    const std::byte* byte = host_pointer(c, address, 1, lane);
    if (byte == nullptr || *byte == std::byte{0}) {
      break;
    }
    text += static_cast<char>(*byte);
  }
  return text;
}

class LaneArguments final : public PrintArguments {
 public:
  LaneArguments(Context& context, std::uint64_t address, int lane)
      : context_(context), address_(address), lane_(lane) {}

  std::uint64_t next(std::uint32_t bytes) override {
    const std::uint64_t at = align_up(address_ + offset_, bytes);
    offset_ = at + bytes - address_;
    std::uint64_t value = 0;
    if (const std::byte* pointer = host_pointer(context_, at, bytes, lane_); pointer != nullptr) {
      std::memcpy(&value, pointer, bytes);
    }
    return value;
  }

  std::string string_at(std::uint64_t address) override {
    return address == 0 ? "(null)" : read_string(context_, address, lane_);
  }

 private:
  Context& context_;
  std::uint64_t address_;
  std::uint64_t offset_ = 0;
  int lane_;
};

Step execute_print(Context& c, const Instruction& in, std::uint32_t mask) {
  const CallSite& call = call_of(in);
  std::string output;
  for (const int lane : SetBits<int>(mask)) {
    LaneArguments arguments(c, argument(c, call, 1, lane), lane);
    const std::string format = read_string(c, argument(c, call, 0, lane), lane);
    const int printed = print_format(format, arguments, output);
    set_result(c, call, lane, static_cast<std::uint64_t>(printed));
  }
  c.launch->print(output);
  return Step::kNext;
}

Step execute_malloc(Context& c, const Instruction& in, std::uint32_t mask) {
  const CallSite& call = call_of(in);
  for (const int lane : SetBits<int>(mask)) {
    const auto memory =
        c.launch->memory.allocate(argument(c, call, 0, lane), AllocationKind::kDevice);
    set_result(c, call, lane, memory.value_or(0));
  }
  return Step::kNext;
}

Step execute_free(Context& c, const Instruction& in, std::uint32_t mask) {
  const CallSite& call = call_of(in);
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t address = argument(c, call, 0, lane);
    if (const auto freed = c.launch->memory.find(address); c.weak != nullptr && freed) {
      c.weak->drop(freed->address, freed->address + freed->bytes, WeakEnd::kSettle);
    }
    if (address != 0 && !c.launch->memory.release(address)) {
      return fail(c, in,
                  Fault{.code = DeviceErrorCode::kIllegalAddress,
                        .lane = lane,
                        .address = address,
                        .what = fmt::format("a free of {:#x}, which is not allocated,", address)});
    }
  }
  return Step::kNext;
}

// As CUDA prints it, a line for a thread.
std::string assertion_text(Context& c, const CallSite& call, int lane) {
  const std::string message = read_string(c, argument(c, call, 0, lane), lane);
  const std::string file = read_string(c, argument(c, call, 1, lane), lane);
  const std::string function = read_string(c, argument(c, call, 3, lane), lane);
  const Dim3& block = c.cta->index;
  return fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
                     file, static_cast<std::uint32_t>(argument(c, call, 2, lane)), function,
                     block.x, block.y, block.z, c.warp->tid[0][lane], c.warp->tid[1][lane],
                     c.warp->tid[2][lane], message);
}

Step execute_assertion(Context& c, const Instruction& in, std::uint32_t mask) {
  const CallSite& call = call_of(in);
  const int first = std::countr_zero(mask);
  std::string all = assertion_text(c, call, first);
  for (std::uint32_t rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
    all += '\n' + assertion_text(c, call, std::countr_zero(rest));
  }
  return fail(c, in,
              Fault{.code = DeviceErrorCode::kAssert, .lane = first, .what = std::move(all)});
}

}  // namespace

Handler find_builtin(std::string_view name) {
  if (name == "vprintf") {
    return &execute_print;
  }
  if (name == "malloc") {
    return &execute_malloc;
  }
  if (name == "free") {
    return &execute_free;
  }
  return name == "__assertfail" ? &execute_assertion : nullptr;
}

}  // namespace barracuda::emulator
