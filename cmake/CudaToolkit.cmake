# Finds nvcc and its headers without CMake's CUDA language: the toolkit may be a tree of PyPI wheels
# (tools/install_cuda.sh puts one into build/cuda), and we compile few files with it.
find_program(BARRACUDA_NVCC nvcc
  HINTS ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13/bin ENV CUDA_HOME ENV CUDA_PATH
  PATH_SUFFIXES bin PATHS /usr/local/cuda REQUIRED)
execute_process(COMMAND ${BARRACUDA_NVCC} --version OUTPUT_VARIABLE nvcc_version)
if(NOT nvcc_version MATCHES "release 13\\.")
  message(FATAL_ERROR "${BARRACUDA_NVCC} is not of CUDA 13. `tools/install_cuda.sh wheels` puts one "
                      "that is into build/cuda; or set CUDA_HOME, and configure afresh.")
endif()
string(REGEX REPLACE ".*, V([0-9.]+).*" "\\1" BARRACUDA_CUDA_VERSION "${nvcc_version}")
get_filename_component(nvcc_real ${BARRACUDA_NVCC} REALPATH)
get_filename_component(nvcc_bin ${nvcc_real} DIRECTORY)
get_filename_component(BARRACUDA_CUDA_HOME ${nvcc_bin} DIRECTORY)
find_program(BARRACUDA_PTXAS ptxas HINTS ${nvcc_bin} REQUIRED NO_DEFAULT_PATH)
find_path(BARRACUDA_CUDA_INCLUDE cuda.h HINTS ${BARRACUDA_CUDA_HOME}/include REQUIRED NO_DEFAULT_PATH)

# CUDA's headers, for the folders that may include them.
add_library(barracuda.cuda_headers INTERFACE)
target_include_directories(barracuda.cuda_headers SYSTEM INTERFACE ${BARRACUDA_CUDA_INCLUDE})
