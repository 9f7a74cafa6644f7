// Kernel launches: the launch descriptor is appended to the program's arguments.
#include <algorithm>
#include <span>
#include <vector>

#include "preload/hook.h"
#include "preload/kernel_forms.h"
#include "preload/shared_limit.h"

namespace barracuda::preload {
namespace {

using session::LaunchRequest;

// A kernel that was instrumented has to get its hidden argument, and one that is in a part of its
// own to find its module's variables, whatever state the tool is in; false if it has not. Inside
// another hook, or when the tool is off, nothing was tried before.
bool run_unlogged(const HookScope& scope, session::Launch& launch, session::Handle function) {
  session::Session* const session = existing_session();
  const bool has_failed = scope.is_outermost() && !tool_is_off();
  bool finds_variables = session == nullptr;
  const bool has_argument = session == nullptr || HookScope::protect(Loss::kCoverage, [&] {
                              finds_variables = session->variables().place(function);
                              session::LaunchTracker& launches = session->launches();
                              if (has_failed) {
                                launches.abandon(launch, function);
                              } else {
                                launches.begin_unlogged(launch, function);
                              }
                            });
  return has_argument && finds_variables;
}

CUfunction function_of(session::Launch::Form form, CUfunction program, const KernelForms& forms) {
  switch (form) {
    case session::Launch::Form::kLogging:
      return program;
    case session::Launch::Form::kGuarded:
      return forms.guarded;
    case session::Launch::Form::kPlain:
      return forms.plain;
    case session::Launch::Form::kUninstrumented:
      return forms.uninstrumented;
  }
  return program;
}

// `submit` makes the driver's call for the function, the shape and the arguments that it is given.
template <typename Submit>
CUresult launch(CUfunction function, LaunchRequest request, void** parameters, void** extra,
                const Submit& submit) {
  const HookScope scope;
  session::Launch launch(parameters, extra);
  bool finds_variables = true;
  KernelForms forms;
  request.function = handle_of(function);
  const bool begun = scope.run([&](session::Session& session) {
    finds_variables = session.variables().place(request.function);
    if (finds_variables) {
      auto variables = session.variables().note(request.function);
      request.constants = std::move(variables.constants);
      request.variables = std::move(variables.global);
      request.most_shared_bytes = most_dynamic_shared(request.function);
      forms = find_forms(scope, session, request);
      session.launches().begin(launch, request);
      if (request.has_guarded_form && launch.form() == session::Launch::Form::kLogging) {
        guarded_form_was_none(session, request);
      }
    }
  });
  if (!finds_variables || (!begun && !run_unlogged(scope, launch, request.function))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const CUresult status = submit(function_of(launch.form(), function, forms), launch.shape(request),
                                 launch.parameters(), launch.extra());
  scope.run([&](session::Session& session) {
    session.launches().submitted(launch, status);
    session.contexts().observe(status);
  });
  return status;
}

std::vector<CUlaunchAttribute> attributes_of(const CUlaunchConfig& config) {
  const std::span given(config.attrs, config.attrs == nullptr ? 0 : config.numAttrs);
  return {given.begin(), given.end()};
}

bool is_programmatic(const CUlaunchAttribute& attribute) {
  return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
}

LaunchRequest request_of(const CUlaunchConfig& config) {
  LaunchRequest request{
      .grid = {.x = config.gridDimX, .y = config.gridDimY, .z = config.gridDimZ},
      .block = {.x = config.blockDimX, .y = config.blockDimY, .z = config.blockDimZ},
      .cluster = std::nullopt,
      .stream = stream_handle(config.hStream),
      .shared_bytes = config.sharedMemBytes,
  };
  for (const CUlaunchAttribute& attribute : attributes_of(config)) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      request.cluster = detector::Dim3{.x = cluster.x, .y = cluster.y, .z = cluster.z};
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      request.is_cooperative = attribute.value.cooperative != 0;
    } else if (is_programmatic(attribute)) {
      request.is_programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      request.event = handle_of(attribute.value.programmaticEvent.event);
    }
  }
  return request;
}

}  // namespace

// NOLINTBEGIN(readability-function-size): the driver's signatures
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  static const OriginalOf<&cuLaunchKernel> original;
  return launch(function,
                {.grid = {.x = grid_x, .y = grid_y, .z = grid_z},
                 .block = {.x = block_x, .y = block_y, .z = block_z},
                 .cluster = std::nullopt,
                 .stream = stream_handle(stream),
                 .shared_bytes = shared_bytes},
                parameters, extra,
                [&](CUfunction launched, const session::LaunchShape& shape, void** all_parameters,
                    void** all_extra) {
                  return original(launched, shape.grid.x, shape.grid.y, shape.grid.z, block_x,
                                  block_y, block_z, shape.shared_bytes, stream, all_parameters,
                                  all_extra);
                });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void** parameters) {
  static const OriginalOf<&cuLaunchCooperativeKernel> original;
  return launch(function,
                {.grid = {.x = grid_x, .y = grid_y, .z = grid_z},
                 .block = {.x = block_x, .y = block_y, .z = block_z},
                 .cluster = std::nullopt,
                 .stream = stream_handle(stream),
                 .is_cooperative = true,
                 .shared_bytes = shared_bytes},
                parameters, nullptr,
                [&](CUfunction launched, const session::LaunchShape& shape, void** all_parameters,
                    void** /*extra*/) {
                  return original(launched, shape.grid.x, shape.grid.y, shape.grid.z, block_x,
                                  block_y, block_z, shape.shared_bytes, stream, all_parameters);
                });
}

// NOLINTEND(readability-function-size)

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  static const OriginalOf<&cuLaunchKernelEx> original;
  if (config == nullptr) {
    return original(config, function, parameters, extra);
  }
  return launch(function, request_of(*config), parameters, extra,
                [&](CUfunction launched, const session::LaunchShape& shape, void** all_parameters,
                    void** all_extra) {
                  CUlaunchConfig shaped = *config;
                  shaped.gridDimX = shape.grid.x;
                  shaped.gridDimY = shape.grid.y;
                  shaped.gridDimZ = shape.grid.z;
                  shaped.sharedMemBytes = shape.shared_bytes;
                  std::vector<CUlaunchAttribute> attributes = attributes_of(*config);
                  if (shape.is_serial) {
                    std::erase_if(attributes, is_programmatic);
                  }
                  shaped.attrs = attributes.data();
                  shaped.numAttrs = static_cast<unsigned>(attributes.size());
                  return original(&shaped, launched, all_parameters, all_extra);
                });
}

}  // namespace barracuda::preload
