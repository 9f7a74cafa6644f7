#include "session/host_stack.h"

#include <array>
#include <span>
#include <unwind.h>

#include "session/python_place.h"

namespace barracuda::session {
namespace {

constexpr std::size_t kDepth = 64;  // a program built without -O has 30 of them in Thrust

// A walk up a thread's stack. To unwind it takes ten microseconds, and a program launches again and
// again from one place: where the calls that led here then have all returned to the same places
// now, as the words say that they did, there is nothing to unwind.
class Walk {
 public:
  // From a function whose frame is at `frame`.
  __attribute__((noinline)) std::span<const std::uint64_t> take(const void* frame) {
    if (frame_ == nullptr || frame != frame_ || !is_same()) {
      frame_ = frame;
      count_ = 0;
      _Unwind_Backtrace(visit, this);
    }
    return std::span(addresses_).first(count_);
  }

 private:
  static _Unwind_Reason_Code visit(_Unwind_Context* context, void* walk) {
    return static_cast<Walk*>(walk)->add(context) ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  bool add(_Unwind_Context* context) {
    const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
    if (address == 0 || count_ == kDepth) {
      return false;
    }
    const std::size_t i = count_++;
    addresses_[i] = address;
    if (i < kOwnFrames) {
      return true;
    }
#ifdef __x86_64__
    // The frame that returns to here ends with the address: it is "at CFA - 8" (System V ABI).
    places_[i] =  // NOLINTNEXTLINE(performance-no-int-to-ptr)
        reinterpret_cast<const std::uint64_t*>(_Unwind_GetCFA(context) - sizeof address);
    if (word_at(places_[i]) == address) {
      return true;
    }
#endif
    frame_ = nullptr;  // not known where it lies: the next walk is a new one
    return true;
  }

  [[nodiscard]] bool is_same() const {
    for (std::size_t i = kOwnFrames; i < count_; ++i) {
      if (word_at(places_[i]) != addresses_[i]) {
        return false;
      }
    }
    return true;
  }

  // A return address is nobody's variable.
  __attribute__((no_sanitize("address"), noinline)) static std::uint64_t word_at(
      const std::uint64_t* place) {
    return *place;
  }

  static constexpr std::size_t kOwnFrames = 2;  // of take() and of who calls it

  const void* frame_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kDepth> addresses_{};
  std::array<const std::uint64_t*, kDepth> places_{};  // of those behind kOwnFrames
};

}  // namespace

// Not backtrace(3): that one loads libgcc_s into the program, and we carry the unwinder already.
std::vector<std::uint64_t> host_stack() {
  static thread_local constinit Walk walk;  // without a destructor: who exits may still launch
  const std::span<const std::uint64_t> walked = walk.take(__builtin_frame_address(0));
  std::vector<std::uint64_t> addresses;
  addresses.reserve(walked.size() + 1);
  addresses.assign(walked.begin(), walked.end());
  if (const std::uint64_t place = noted_python_place(); place != 0) {
    addresses.push_back(place);
  }
  return addresses;
}

}  // namespace barracuda::session
