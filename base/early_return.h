// What ends a function of CUDA's interface before its work: the statuses of its preconditions.
#pragma once

// RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE): returns the status where the condition
// holds.
#define RETURN_IF(condition, status) \
  do {                               \
    if (condition) {                 \
      return status;                 \
    }                                \
  } while (false)

// RETURN_IF_FAILED(require_context()): returns the call's status unless it is 0, success in every
// CUDA library.
#define RETURN_IF_FAILED(...)                                                                      \
  do {                                                                                             \
    if (const auto status_of_call = (__VA_ARGS__); status_of_call != decltype(status_of_call){}) { \
      return status_of_call;                                                                       \
    }                                                                                              \
  } while (false)
