# NVIDIA's PTX compiler as a library: of the toolkit, or of the wheel that tools/install_cuda.sh puts
# into build/ptx_compiler. The tool works without it: then the driver compiles.
set(wheel ${PROJECT_SOURCE_DIR}/build/ptx_compiler/nvidia/cu13)
find_library(BARRACUDA_PTX_COMPILER libnvptxcompiler_static.a
  HINTS ${BARRACUDA_CUDA_HOME}/lib64 ${wheel}/lib NO_DEFAULT_PATH)
find_path(BARRACUDA_PTX_COMPILER_INCLUDE nvPTXCompiler.h
  HINTS ${BARRACUDA_CUDA_INCLUDE} ${wheel}/include NO_DEFAULT_PATH)
if(BARRACUDA_PTX_COMPILER AND BARRACUDA_PTX_COMPILER_INCLUDE)
  if(NOT BARRACUDA_PTX_COMPILER_VERSION)  # reading 80 MB takes seconds
    file(STRINGS ${BARRACUDA_PTX_COMPILER} version LIMIT_COUNT 1 REGEX "release [0-9.]+, V[0-9.]+")
    string(REGEX MATCH "V([0-9.]+)" version "${version}")
    set(BARRACUDA_PTX_COMPILER_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "Version of ${BARRACUDA_PTX_COMPILER}")
  endif()
else()
  set(BARRACUDA_PTX_COMPILER "")
  set(BARRACUDA_PTX_COMPILER_VERSION "")
  message(STATUS "Not built: barracuda-compiler, for there is no libnvptxcompiler_static.a. On a GPU "
                 "the driver compiles what is instrumented, and jit-cache has no effect.")
endif()
