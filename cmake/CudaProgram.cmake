# barracuda_cuda_program(NAME SOURCES ... [FLAGS ...] [LIBRARIES ...] [SHARED_ONLY]): an ordinary CUDA
# program, built by nvcc as its author would, twice: NAME with the shared CUDA runtime (runs on both
# devices) and NAME.static with the static one (nvcc's default; needs a driver). Both lie in the build
# folder's programs/, with line information.
add_custom_target(barracuda.programs)

function(barracuda_cuda_program name)
  cmake_parse_arguments(ARG "SHARED_ONLY" "" "SOURCES;FLAGS;LIBRARIES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(folder ${PROJECT_BINARY_DIR}/programs)
  file(MAKE_DIRECTORY ${folder})
  set(cudarts shared static)
  if(ARG_SHARED_ONLY)
    set(cudarts shared)
  endif()
  foreach(cudart IN LISTS cudarts)
    set(program ${folder}/${name})
    if(cudart STREQUAL static)
      set(program ${program}.static)
    endif()
    add_custom_command(OUTPUT ${program}
      COMMAND ${BARRACUDA_NVCC} -std=c++17 -lineinfo -cudart ${cudart} ${ARG_FLAGS} ${ARG_SOURCES}
              -o ${program} ${ARG_LIBRARIES}
      DEPENDS ${ARG_SOURCES} ${headers} ${ARG_DEPENDS}
      COMMENT "nvcc ${name} (${cudart} CUDA runtime)" VERBATIM)
    list(APPEND programs ${program})
  endforeach()
  add_custom_target(barracuda.program.${name} ALL DEPENDS ${programs})
  add_dependencies(barracuda.programs barracuda.program.${name})
endfunction()

# barracuda_ptx(NAME SOURCE [FLAGS ...]): programs/NAME.ptx.
function(barracuda_ptx name source)
  set(ptx ${PROJECT_BINARY_DIR}/programs/${name}.ptx)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${BARRACUDA_NVCC} -std=c++17 -lineinfo -ptx ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${ptx}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} COMMENT "nvcc ${name}.ptx" VERBATIM)
  add_custom_target(barracuda.ptx.${name} ALL DEPENDS ${ptx})
  add_dependencies(barracuda.programs barracuda.ptx.${name})
endfunction()
