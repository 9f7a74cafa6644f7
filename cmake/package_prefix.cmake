# Read by cpack for each kind of package. The tarball has bin, lib and share at its top. The DEB has a folder of
# its own, for lib/libtbb.so.12 would be that of the package libtbb12; /usr/bin has a link.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/barracuda)
endif()
