#include "cli/kernel_launch.h"

#include <cstring>

#include "base/driver_calls.h"

namespace barracuda::cli {
namespace {

constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr std::uint32_t kSharedBytesWithoutAsking = 48 * 1024;

using driver::Driver, driver::Handle, driver::in_turn;

Expected<void> launch(const Driver& driver, Handle function, const KernelCommand& command,
                      std::vector<void*>& parameters) {
  const auto& [grid, block] = std::pair(command.grid, command.block);
  const Handle stream = nullptr;
  if (command.shared_bytes > kSharedBytesWithoutAsking) {
    if (auto set = driver.call("cuFuncSetAttribute", function, kMaxDynamicSharedBytes,
                               static_cast<int>(command.shared_bytes));
        !set) {
      return set;
    }
  }
  if (command.is_cooperative) {
    return driver.call("cuLaunchCooperativeKernel", function, grid[0], grid[1], grid[2], block[0],
                       block[1], block[2], command.shared_bytes, stream, parameters.data());
  }
  void** const extra = nullptr;
  return driver.call("cuLaunchKernel", function, grid[0], grid[1], grid[2], block[0], block[1],
                     block[2], command.shared_bytes, stream, parameters.data(), extra);
}

void* value_of(KernelArgument& argument) {
  return argument.is_buffer ? static_cast<void*>(&argument.address) : argument.bytes.data();
}

// Makes the buffer, or those of a structure, and puts their addresses where the kernel looks.
Expected<void> make_buffers(const Driver& driver, KernelArgument& argument) {
  for (KernelArgument& member : argument.members) {
    if (auto made = make_buffers(driver, member); !made) {
      return made;
    }
    std::memcpy(argument.bytes.data() + member.offset, value_of(member), parameter_bytes(member));
  }
  if (!argument.is_buffer) {
    return {};
  }
  const std::size_t bytes = argument.bytes.size();
  const void* const from = argument.bytes.data();
  return in_turn([&] { return driver.call("cuMemAlloc_v2", &argument.address, bytes); },
                 [&] { return driver.call("cuMemcpyHtoD_v2", argument.address, from, bytes); });
}

Expected<void> read_buffers(const Driver& driver, KernelArgument& argument) {
  for (KernelArgument& member : argument.members) {
    if (auto read = read_buffers(driver, member); !read) {
      return read;
    }
  }
  void* const to = argument.bytes.data();
  return argument.is_buffer
             ? driver.call("cuMemcpyDtoH_v2", to, argument.address, argument.bytes.size())
             : Expected<void>();
}

}  // namespace

Expected<void> launch_kernel(const std::string& ptx, const std::string& entry,
                             const KernelCommand& command, std::vector<KernelArgument>& arguments) {
  TRY(const Driver driver, Driver::open());
  TRY(const Handle function, driver::load_kernel(driver, ptx, entry));
  std::vector<void*> parameters;
  for (KernelArgument& argument : arguments) {
    if (auto made = make_buffers(driver, argument); !made) {
      return made;
    }
    parameters.push_back(value_of(argument));
  }
  auto ran = in_turn([&] { return launch(driver, function, command, parameters); },
                     [&] { return driver.call("cuCtxSynchronize"); });
  if (!ran) {
    return ran;
  }
  for (KernelArgument& argument : arguments) {
    if (auto read = read_buffers(driver, argument); !read) {
      return read;
    }
  }
  return {};
}

}  // namespace barracuda::cli
