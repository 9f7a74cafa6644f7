#include "device_logger/logger_image.h"

#include "device_logger/commit_probe.h"
#include "device_logger/stress_beside.h"

namespace barracuda::wire {
namespace {

// Arrays where a compiler would count a view's characters for too long.
constexpr const char kLogger[] =
#include "device_logger/logger_75.inc"
    ;
constexpr const char kLoggerWithClusters[] =
#include "device_logger/logger_90.inc"
    ;
constexpr std::string_view kStoreBuffer =
#include "device_logger/store_buffer_75.inc"
    ;
constexpr std::string_view kStoreBufferWithClusters =
#include "device_logger/store_buffer_90.inc"
    ;
constexpr const char kCommitProbe[] =
#include "device_logger/commit_probe_75.inc"
    ;
constexpr const char kStressBeside[] =
#include "device_logger/stress_beside_75.inc"
    ;
constexpr std::string_view kDeviceRuntime =
#include "device_logger/device_runtime_75.inc"
    ;
constexpr std::uint32_t kFirstArchWithClusters = 90;

}  // namespace

std::string_view logger_ptx(std::uint32_t arch) {
  return arch >= kFirstArchWithClusters
             ? std::string_view(kLoggerWithClusters, sizeof kLoggerWithClusters - 1)
             : std::string_view(kLogger, sizeof kLogger - 1);
}

std::string_view store_buffer_ptx(std::uint32_t arch) {
  return arch >= kFirstArchWithClusters ? kStoreBufferWithClusters : kStoreBuffer;
}

std::string_view device_runtime_ptx() {
  return kDeviceRuntime;
}

const char* stress_beside_ptx() {
  return kStressBeside;
}

const char* commit_probe_ptx() {
  return kCommitProbe;
}

}  // namespace barracuda::wire
