# `cmake --install build --prefix FOLDER` and `cpack --config build/CPackConfig.cmake`: the command, what
# it preloads, and what lies beside them. The folder may be moved: every part is found from where the
# command lies. Nothing of it needs root, CUDA's toolkit or Debian's development packages.
include(GNUInstallDirs)

# bin/barracuda finds ../lib/libbarracuda.so, which finds what lies beside it ($ORIGIN).
install(TARGETS barracuda.cli RUNTIME DESTINATION bin)
install(TARGETS barracuda LIBRARY DESTINATION lib NAMELINK_SKIP)
if(TARGET barracuda.compiler)
  install(TARGETS barracuda.compiler RUNTIME DESTINATION lib)
endif()
install(FILES ${PROJECT_BINARY_DIR}/lib/libtbb.so.12
              ${PROJECT_BINARY_DIR}/lib/barracuda-thread-sanitizer.supp DESTINATION lib)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/barracuda DESTINATION share USE_SOURCE_PERMISSIONS
  PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md DESTINATION share/doc/barracuda)
install(DIRECTORY docs/ DESTINATION share/doc/barracuda/docs)

# What the command writes of itself: its manual page, and what completes its words in a shell.
install(CODE "
  foreach(pair IN ITEMS man=share/man/man1/barracuda.1
      bash=share/bash-completion/completions/barracuda zsh=share/zsh/site-functions/_barracuda)
    string(REPLACE \"=\" \";\" pair \${pair})
    list(GET pair 0 kind)
    list(GET pair 1 path)
    set(file \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${path})
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \"$<TARGET_FILE:barracuda.cli>\" --generate \${kind}
      OUTPUT_FILE \${file} COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${CMAKE_INSTALL_PREFIX}/\${path})
  endforeach()")

# find_package(barracuda) of other projects.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/barracuda-config-version.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES cmake/barracuda-config.cmake ${PROJECT_BINARY_DIR}/barracuda-config-version.cmake
  DESTINATION lib/cmake/barracuda)

set(CPACK_PACKAGE_NAME barracuda)
set(CPACK_PACKAGE_VENDOR "the BARRACUDA project")
set(CPACK_PACKAGE_CONTACT "the BARRACUDA project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds the data races of CUDA programs")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME barracuda-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
# Debug files of what is stripped: the DEB has a package of its own with them (package_prefix.cmake).
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/split_debug.cmake)
set(CPACK_BARRACUDA_BINARIES ${PROJECT_BINARY_DIR}/bin/barracuda ${PROJECT_BINARY_DIR}/lib/libbarracuda.so)
set(CPACK_BARRACUDA_OBJCOPY ${CMAKE_OBJCOPY})
set(CPACK_BARRACUDA_READELF ${CMAKE_READELF})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_prefix.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(BARRACUDA_SYSROOT)
  # What dpkg-shlibdeps says would be of this system's C library.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.30), libgcc-s1, libstdc++6 (>= 5)")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/debian/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
