# cmake -DCOMMIT=… -DSOURCES=… -DOUTPUT=… -P write_commit.cmake: the commit of the sources, for the compiler. COMMIT is
# what CMake was told; if that is nothing, git is asked. The file is only written where it changes.
if(NOT COMMIT)
  find_program(git git)
  # Not the commit of a repository in which the unpacked sources happen to lie.
  if(git AND EXISTS "${SOURCES}/.git")
    execute_process(COMMAND ${git} -C "${SOURCES}" describe --always --dirty=+ --abbrev=12 --exclude=*
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT COMMIT)
  set(COMMIT "unknown")
endif()
set(text "#define BARRACUDA_COMMIT \"${COMMIT}\"\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" written)
endif()
if(NOT "${written}" STREQUAL "${text}")
  file(WRITE "${OUTPUT}" "${text}")
endif()
