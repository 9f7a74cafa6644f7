#include "base/early_return.h"
#include "emulator/libcudart/memory/copy.h"
#include "emulator/libcudart/module/registry.h"

namespace barracuda::emulator::runtime {
namespace {

struct Symbol {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};

cudaError_t find(const DriverCalls& calls, const void* host, Symbol& symbol) {
  if (const CUresult status = enter(calls); status != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(status);
  }
  return registry().find_variable(calls, host, symbol.address, symbol.bytes);
}

// Answers with what `value` takes of the variable.
template <typename Result, typename Value>
cudaError_t answer(Result* to, const void* host, const Value& value) {
  RETURN_IF(to == nullptr, note(cudaErrorInvalidValue));
  Symbol symbol;
  const cudaError_t error = find(driver_calls(), host, symbol);
  if (error == cudaSuccess) {
    *to = value(symbol);
  }
  return note(error);
}

cudaError_t copy_to(const void* host, std::size_t offset, Copy copy,
                    std::optional<CUstream> stream) {
  RETURN_IF(copy.kind != cudaMemcpyHostToDevice && copy.kind != cudaMemcpyDeviceToDevice &&
                copy.kind != cudaMemcpyDefault,
            note(cudaErrorInvalidMemcpyDirection));
  const cudaError_t error = find_place(host, offset, copy.bytes, copy.to);
  return error != cudaSuccess ? note(error) : note(copy_bytes(driver_calls(), copy, stream));
}

cudaError_t copy_from(const void* host, std::size_t offset, Copy copy,
                      std::optional<CUstream> stream) {
  RETURN_IF(copy.kind != cudaMemcpyDeviceToHost && copy.kind != cudaMemcpyDeviceToDevice &&
                copy.kind != cudaMemcpyDefault,
            note(cudaErrorInvalidMemcpyDirection));
  void* from = nullptr;
  const cudaError_t error = find_place(host, offset, copy.bytes, from);
  copy.from = from;
  return error != cudaSuccess ? note(error) : note(copy_bytes(driver_calls(), copy, stream));
}

}  // namespace

cudaError_t find_place(const void* variable, std::size_t offset, std::size_t bytes,
                       void*& address) {
  Symbol symbol;
  RETURN_IF_FAILED(find(driver_calls(), variable, symbol));
  address = reinterpret_cast<void*>(symbol.address + offset);
  return offset <= symbol.bytes && bytes <= symbol.bytes - offset ? cudaSuccess
                                                                  : cudaErrorInvalidValue;
}

cudaError_t cudaGetSymbolAddress(void** address, const void* host) {
  return answer(address, host,
                [](const Symbol& symbol) { return reinterpret_cast<void*>(symbol.address); });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* host) {
  return answer(bytes, host, [](const Symbol& symbol) { return symbol.bytes; });
}

cudaError_t cudaMemcpyToSymbol(const void* host, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return copy_to(host, offset, {.to = nullptr, .from = from, .bytes = bytes, .kind = kind}, {});
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* host, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_from(host, offset, {.to = to, .from = nullptr, .bytes = bytes, .kind = kind}, {});
}

cudaError_t cudaMemcpyToSymbolAsync(const void* host, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to(host, offset, {.to = nullptr, .from = from, .bytes = bytes, .kind = kind},
                 stream_of(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* host, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_from(host, offset, {.to = to, .from = nullptr, .bytes = bytes, .kind = kind},
                   stream_of(stream));
}

}  // namespace barracuda::emulator::runtime
