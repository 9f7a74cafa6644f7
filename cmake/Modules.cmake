option(BARRACUDA_UNITE "Compile several sources as one: faster from nothing, slower after a change" OFF)
if(BARRACUDA_UNITE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# barracuda_unite(TARGET SOURCE...): with BARRACUDA_UNITE, the target's sources are compiled some at a time.
function(barracuda_unite target)
  if(NOT BARRACUDA_UNITE)
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/unite_sources.py
                          ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN}
                  OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  foreach(each IN LISTS groups)
    string(REPLACE " " ";" each "${each}")
    list(POP_FRONT each group)
    set_source_files_properties(${each} PROPERTIES UNITY_GROUP ${target}.${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A source is no header, though it is included.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# barracuda_folder(NAME SOURCES ... LINKS ...): a folder of the tree as the static library
# barracuda.NAME (alias barracuda::NAME). Each top-level header of it must compile alone
# (barracuda.header_checks).
function(barracuda_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(barracuda.${name} STATIC ${ARG_SOURCES})
  add_library(barracuda::${name} ALIAS barracuda.${name})
  barracuda_unite(barracuda.${name} ${ARG_SOURCES})
  target_link_libraries(barracuda.${name} PUBLIC barracuda.build_interface ${ARG_LINKS}
                                          PRIVATE ${ARG_PRIVATE_LINKS})
  barracuda_check_headers(${name} ${ARG_PRIVATE_LINKS})
endfunction()

# Every public header (the folder's top level) must compile by itself, with the libraries given: barracuda.header_checks,
# which tools/nightly.sh builds. One that a source of its name includes before anything else does: only the other half is
# compiled once more.
add_custom_target(barracuda.header_checks)
function(barracuda_check_headers name)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(checks "")
  foreach(header IN LISTS headers)
    get_filename_component(stem ${header} NAME_WE)
    file(GLOB_RECURSE own ${CMAKE_CURRENT_SOURCE_DIR}/${stem}.cpp)
    set(first "")
    foreach(file IN LISTS own)
      file(STRINGS ${file} include REGEX "^#include" LIMIT_COUNT 1)
      list(APPEND first "${include}")
    endforeach()
    if("#include \"${name}/${stem}.h\"" IN_LIST first)
      continue()
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/header_checks/${stem}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"  // compiled alone\n" @ONLY)
    list(APPEND checks ${source})
  endforeach()
  if(checks)
    add_library(barracuda.header_check.${name} OBJECT EXCLUDE_FROM_ALL ${checks})
    add_dependencies(barracuda.header_checks barracuda.header_check.${name})
    target_link_libraries(barracuda.header_check.${name} PRIVATE barracuda.${name} ${ARGN})
    target_compile_options(barracuda.header_check.${name} PRIVATE -O0 -g0)
  endif()
endfunction()

find_package(Catch2 REQUIRED)
include(Catch)

# barracuda_test(NAME SOURCES ... LINKS ... [LABELS ...]): a Catch2 executable whose cases are
# registered with CTest one by one. At -O0: the templates of the test libraries take most of a build at -O2. LONG: it
# computes much itself, at -O1.
function(barracuda_test name)
  cmake_parse_arguments(ARG "LONG" "" "SOURCES;LINKS;LABELS;DEFINITIONS" ${ARGN})
  add_executable(barracuda.test.${name} ${ARG_SOURCES})
  barracuda_unite(barracuda.test.${name} ${ARG_SOURCES})
  target_link_libraries(barracuda.test.${name} PRIVATE
    barracuda.build_interface ${ARG_LINKS} Catch2::Catch2WithMain)
  target_compile_options(barracuda.test.${name} PRIVATE $<IF:$<BOOL:${ARG_LONG}>,-O1,-O0>)
  target_compile_definitions(barracuda.test.${name} PRIVATE
    BARRACUDA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" BARRACUDA_BINARY_DIR="${PROJECT_BINARY_DIR}"
    BARRACUDA_NVCC="${BARRACUDA_NVCC}" BARRACUDA_PTXAS="${BARRACUDA_PTXAS}" ${ARG_DEFINITIONS})
  if(NOT TARGET barracuda.test.all)
    add_custom_target(barracuda.test.all)
  endif()
  add_dependencies(barracuda.test.all barracuda.test.${name})
  if(ARG_LABELS)
    set(labels PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  catch_discover_tests(barracuda.test.${name} TEST_PREFIX "${name}: " ${labels})
endfunction()
