#include "session/host_stack.h"

#include <unwind.h>

#include "session/python_place.h"

namespace barracuda::session {
namespace {

struct Walk {
  std::vector<std::uint64_t> addresses;
  std::size_t limit = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  if (address == 0 || walk.addresses.size() >= walk.limit) {
    return _URC_END_OF_STACK;
  }
  walk.addresses.push_back(address);
  return _URC_NO_REASON;
}

}  // namespace

// Not backtrace(3): that one loads libgcc_s into the program, and we carry the unwinder already.
std::vector<std::uint64_t> host_stack(std::size_t limit) {
  Walk walk{.addresses = {}, .limit = limit};
  walk.addresses.reserve(limit);
  _Unwind_Backtrace(visit, &walk);
  if (const std::uint64_t place = noted_python_place(); place != 0) {
    walk.addresses.push_back(place);
  }
  return walk.addresses;
}

}  // namespace barracuda::session
