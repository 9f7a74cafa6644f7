# Libraries from Debian packages; tools/install_packages.sh lists them.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_library(ZSTD_STATIC libzstd.a REQUIRED)
find_library(LZ4_STATIC liblz4.a REQUIRED)
