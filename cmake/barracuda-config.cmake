# find_package(barracuda) gives BARRACUDA_EXECUTABLE and
#
#   barracuda_add_test(NAME name COMMAND program-or-target [argument...]
#     [SUPPRESSIONS file] [BASELINE file] [SEEDS n] [SEVERITY error|warning] [OPTIONS name=value...])
#
# The test runs the program under the tool, and passes if nothing was found (or nothing that the files
# do not have), everything was checked, and the program itself ended well.
get_filename_component(BARRACUDA_EXECUTABLE "${CMAKE_CURRENT_LIST_DIR}/../../../bin/barracuda" ABSOLUTE)

function(barracuda_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;SUPPRESSIONS;BASELINE;SEEDS;SEVERITY" "COMMAND;OPTIONS")
  if(NOT test_NAME OR NOT test_COMMAND)
    message(FATAL_ERROR "barracuda_add_test needs NAME and COMMAND")
  endif()
  if(test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "barracuda_add_test does not know: ${test_UNPARSED_ARGUMENTS}")
  endif()
  set(flags --strict)
  foreach(option IN ITEMS SUPPRESSIONS BASELINE)
    if(test_${option})
      get_filename_component(file "${test_${option}}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      string(TOLOWER ${option} name)
      list(APPEND flags --${name}=${file})
    endif()
  endforeach()
  foreach(option IN ITEMS SEEDS SEVERITY)
    if(test_${option})
      string(TOLOWER ${option} name)
      list(APPEND flags --${name}=${test_${option}})
    endif()
  endforeach()
  foreach(option IN LISTS test_OPTIONS)
    list(APPEND flags --${option})
  endforeach()
  list(POP_FRONT test_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${test_NAME}
    COMMAND "${BARRACUDA_EXECUTABLE}" run ${flags} -- ${program} ${test_COMMAND})
endfunction()
