#include "device_logger/logger_image.h"

namespace barracuda::wire {
namespace {

constexpr std::string_view kLogger =
#include "device_logger/logger_75.inc"
    ;
constexpr std::string_view kLoggerWithClusters =
#include "device_logger/logger_90.inc"
    ;
constexpr std::uint32_t kFirstArchWithClusters = 90;

}  // namespace

std::string_view logger_ptx(std::uint32_t arch) {
  return arch >= kFirstArchWithClusters ? kLoggerWithClusters : kLogger;
}

}  // namespace barracuda::wire
