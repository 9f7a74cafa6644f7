// Kernel launches: the launch descriptor is appended to the program's arguments.
#include <span>

#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::LaunchRequest;

// A kernel that was instrumented has to get its hidden argument whatever state the tool is in;
// false if it has not. Inside another hook, or when the tool is off, nothing was tried before.
bool run_unlogged(const HookScope& scope, session::Launch& launch, session::Handle function) {
  session::Session* const session = existing_session();
  const bool has_failed = scope.is_outermost() && !tool_is_off();
  return session == nullptr || HookScope::protect(Loss::kCoverage, [&] {
           session::LaunchTracker& launches = session->launches();
           if (has_failed) {
             launches.abandon(launch, function);
           } else {
             launches.begin_unlogged(launch, function);
           }
         });
}

// `submit` makes the driver's call with the arguments it is given.
template <typename Submit>
CUresult launch(LaunchRequest request, void** parameters, void** extra, const Submit& submit) {
  const HookScope scope;
  session::Launch launch(parameters, extra);
  const bool begun = scope.run([&](session::Session& session) {
    request.constants = session.note_variables(request.function);
    session.launches().begin(launch, request);
  });
  if (!begun && !run_unlogged(scope, launch, request.function)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const CUresult status = submit(launch.parameters(), launch.extra());
  scope.run([&](session::Session& session) {
    session.launches().submitted(launch, status);
    session.observe(status);
  });
  return status;
}

LaunchRequest request_of(const CUlaunchConfig& config, CUfunction function, DefaultStream meaning) {
  LaunchRequest request{
      .function = handle_of(function),
      .grid = {config.gridDimX, config.gridDimY, config.gridDimZ},
      .block = {config.blockDimX, config.blockDimY, config.blockDimZ},
      .cluster = std::nullopt,
      .stream = stream_handle(config.hStream, meaning),
  };
  for (const CUlaunchAttribute& attribute :
       std::span(config.attrs, config.attrs == nullptr ? 0 : config.numAttrs)) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      request.cluster = detector::Dim3{cluster.x, cluster.y, cluster.z};
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      request.is_programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      request.event = handle_of(attribute.value.programmaticEvent.event);
    }
  }
  return request;
}

CUresult launch_with(const Original<decltype(launch_kernel_ex)>& original, DefaultStream meaning,
                     const CUlaunchConfig* config, CUfunction function, void** parameters,
                     void** extra) {
  if (config == nullptr) {
    return original(config, function, parameters, extra);
  }
  return launch(request_of(*config, function, meaning), parameters, extra,
                [&](void** all_parameters, void** all_extra) {
                  return original(config, function, all_parameters, all_extra);
                });
}

// The plain forms take a dozen arguments; as a launch configuration they are one.
struct PlainLaunch {
  CUlaunchConfig config;
  CUfunction function;
  DefaultStream meaning;
  void** parameters;
  void** extra;
};

CUlaunchConfig config_of(detector::Dim3 grid, detector::Dim3 block, unsigned shared_bytes,
                         CUstream stream) {
  return {.gridDimX = grid.x,
          .gridDimY = grid.y,
          .gridDimZ = grid.z,
          .blockDimX = block.x,
          .blockDimY = block.y,
          .blockDimZ = block.z,
          .sharedMemBytes = shared_bytes,
          .hStream = stream,
          .attrs = nullptr,
          .numAttrs = 0};
}

CUresult launch_plain(const Original<decltype(launch_kernel)>& original, const PlainLaunch& call) {
  const CUlaunchConfig& config = call.config;
  return launch(request_of(config, call.function, call.meaning), call.parameters, call.extra,
                [&](void** parameters, void** extra) {
                  return original(call.function, config.gridDimX, config.gridDimY, config.gridDimZ,
                                  config.blockDimX, config.blockDimY, config.blockDimZ,
                                  config.sharedMemBytes, config.hStream, parameters, extra);
                });
}

CUresult launch_cooperative_with(const Original<decltype(launch_cooperative)>& original,
                                 const PlainLaunch& call) {
  const CUlaunchConfig& config = call.config;
  return launch(request_of(config, call.function, call.meaning), call.parameters, nullptr,
                [&](void** parameters, void** /*extra*/) {
                  return original(call.function, config.gridDimX, config.gridDimY, config.gridDimZ,
                                  config.blockDimX, config.blockDimY, config.blockDimZ,
                                  config.sharedMemBytes, config.hStream, parameters);
                });
}

}  // namespace

// NOLINTBEGIN(readability-function-size): the driver's signatures
CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void** parameters, void** extra) {
  static const OriginalOf<&launch_kernel> original;
  return launch_plain(original, {config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                           shared_bytes, stream),
                                 function, DefaultStream::kLegacy, parameters, extra});
}

CUresult launch_kernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, CUstream stream, void** parameters,
                            void** extra) {
  static const OriginalOf<&launch_kernel_ptsz> original;
  return launch_plain(original, {config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                           shared_bytes, stream),
                                 function, DefaultStream::kPerThread, parameters, extra});
}

CUresult launch_cooperative(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, CUstream stream, void** parameters) {
  static const OriginalOf<&launch_cooperative> original;
  return launch_cooperative_with(
      original,
      {config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream),
       function, DefaultStream::kLegacy, parameters, nullptr});
}

CUresult launch_cooperative_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, CUstream stream,
                                 void** parameters) {
  static const OriginalOf<&launch_cooperative_ptsz> original;
  return launch_cooperative_with(
      original,
      {config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream),
       function, DefaultStream::kPerThread, parameters, nullptr});
}

// NOLINTEND(readability-function-size)

CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  static const OriginalOf<&launch_kernel_ex> original;
  return launch_with(original, DefaultStream::kLegacy, config, function, parameters, extra);
}

CUresult launch_kernel_ex_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
  static const OriginalOf<&launch_kernel_ex_ptsz> original;
  return launch_with(original, DefaultStream::kPerThread, config, function, parameters, extra);
}

}  // namespace barracuda::preload
