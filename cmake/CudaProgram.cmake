# barracuda_cuda_program(NAME SOURCES ... [FLAGS ...] [LIBRARIES ...] [SHARED_ONLY]): an ordinary CUDA
# program, built by nvcc as its author would and linked twice: NAME with the shared CUDA runtime (runs on
# both devices) and NAME.static with the static one (nvcc's default; needs a driver). Both lie in the build
# folder's programs/, with line information. STANDARD is that of C++, 17 if not said. A SHARED_ONLY program,
# as most tests are, has no second, and is linked by the host's compiler, as CMake does where nothing is -rdc: it
# takes 0.2 s, and nvcc 0.6 with its device linker, which finds nothing to do.
add_custom_target(barracuda.programs)

function(barracuda_cuda_program name)
  cmake_parse_arguments(ARG "SHARED_ONLY" "STANDARD" "SOURCES;FLAGS;LIBRARIES;DEPENDS" ${ARGN})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(program ${PROJECT_BINARY_DIR}/programs/${name})
  set(objects ${PROJECT_BINARY_DIR}/programs/objects/${name})
  file(MAKE_DIRECTORY ${objects})
  if(NOT ARG_STANDARD)
    set(ARG_STANDARD 17)
  endif()
  set(nvcc ${BARRACUDA_NVCC} -std=c++${ARG_STANDARD} -lineinfo ${ARG_FLAGS})
  set(compiled "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(stem ${source} NAME_WE)
    set(object ${objects}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${nvcc} -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${headers} ${ARG_DEPENDS}
      COMMENT "nvcc ${name}: ${source}" VERBATIM)
    list(APPEND compiled ${object})
  endforeach()
  set(suffix_shared "")
  set(suffix_static .static)
  set(cudarts shared static)
  set(link ${nvcc})
  set(shared_runtime -cudart shared)
  set(static_runtime -cudart static)
  if(ARG_SHARED_ONLY)
    set(cudarts shared)
    if(NOT "-rdc=true" IN_LIST ARG_FLAGS)
      set(link ${CMAKE_CXX_COMPILER})
      set(shared_runtime -L${BARRACUDA_CUDA_HOME}/lib64 -lcudart)
    endif()
  endif()
  set(programs "")
  foreach(cudart IN LISTS cudarts)
    set(linked ${program}${suffix_${cudart}})
    add_custom_command(OUTPUT ${linked}
      COMMAND ${link} ${compiled} -o ${linked} ${${cudart}_runtime} ${ARG_LIBRARIES}
      DEPENDS ${compiled} COMMENT "nvcc ${name} (${cudart} CUDA runtime)" VERBATIM)
    list(APPEND programs ${linked})
  endforeach()
  add_custom_target(barracuda.program.${name} ALL DEPENDS ${programs})
  add_dependencies(barracuda.programs barracuda.program.${name})
endfunction()

# The build folder whose PTX for tests this one takes, instead of having nvcc write it again: sanitizers change
# nothing of it.
set(BARRACUDA_TEST_PTX_OF ${PROJECT_BINARY_DIR} CACHE PATH "The build folder with the PTX that tests read")

# barracuda_ptx(NAME SOURCE [FLAGS ...]): programs/NAME.ptx.
function(barracuda_ptx name source)
  set(ptx ${PROJECT_BINARY_DIR}/programs/${name}.ptx)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${BARRACUDA_NVCC} -std=c++17 -lineinfo -ptx ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${ptx}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} COMMENT "nvcc ${name}.ptx" VERBATIM)
  add_custom_target(barracuda.ptx.${name} ALL DEPENDS ${ptx})
  add_dependencies(barracuda.programs barracuda.ptx.${name})
endfunction()
