# -DBARRACUDA_SYSROOT=FOLDER links what runs on older systems: against the C library of a root of Debian 11, with
# the compiler, the headers and the static libraries of this system. docs/decisions/old-glibc.md says why that
# is sound; tools/build_portable.sh makes the root.
set(BARRACUDA_SYSROOT "" CACHE PATH "A root whose C library is linked against, with libtbb.so.12 in it (empty: this system's)")
if(NOT BARRACUDA_SYSROOT)
  return()
endif()
set(libraries ${BARRACUDA_SYSROOT}/usr/lib/x86_64-linux-gnu)
# Tests too have their libstdc++ inside, for this system's needs this system's C library.
add_link_options(--sysroot=${BARRACUDA_SYSROOT} -B${libraries} -L${libraries} -static-libstdc++ -static-libgcc)

# An object and not an archive: what needs it, libstdc++ and libgcc, comes last in a link. Another source has
# another name, so that all is linked again.
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/old_glibc.c hash)
string(SUBSTRING ${hash} 0 8 hash)
set(object ${PROJECT_BINARY_DIR}/old_glibc_${hash}.o)
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_C_COMPILER} -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden
  -c ${CMAKE_CURRENT_LIST_DIR}/old_glibc.c -o ${object})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/old_glibc.c)
# In 2.31 threads, dlopen and mathematics have libraries of their own.
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " ${object} -Wl,--as-needed -lpthread -ldl -lm")

set_target_properties(TBB::tbb PROPERTIES
  IMPORTED_LOCATION_NONE ${BARRACUDA_SYSROOT}/libtbb.so.12 IMPORTED_LOCATION_RELEASE ${BARRACUDA_SYSROOT}/libtbb.so.12)
