#include "session/host_stack.h"

#include <unwind.h>

#include "session/python_place.h"

namespace barracuda::session {
namespace {

constexpr std::size_t kDepth = 24;

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& addresses = *static_cast<std::vector<std::uint64_t>*>(argument);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  if (address == 0 || addresses.size() >= kDepth) {
    return _URC_END_OF_STACK;
  }
  addresses.push_back(address);
  return _URC_NO_REASON;
}

}  // namespace

// Not backtrace(3): that one loads libgcc_s into the program, and we carry the unwinder already.
std::vector<std::uint64_t> host_stack() {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(kDepth);
  _Unwind_Backtrace(visit, &addresses);
  if (const std::uint64_t place = noted_python_place(); place != 0) {
    addresses.push_back(place);
  }
  return addresses;
}

}  // namespace barracuda::session
