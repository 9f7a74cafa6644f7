# Read by cpack for each kind of package. The tarball has bin, lib and share at its top. The DEB has a folder of
# its own, for lib/libtbb.so.12 would be that of the package libtbb12; /usr/bin has a link.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/barracuda)
  # CPack strips what it has taken the debug files of.
  set(CPACK_STRIP_FILES OFF)
  set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
endif()
