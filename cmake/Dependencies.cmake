# Libraries from Debian packages; tools/install_packages.sh lists them.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_library(ZSTD_STATIC libzstd.a REQUIRED)
find_library(LZ4_STATIC liblz4.a REQUIRED)

# barracuda::fmt: what is in the header compiled once, where that is the version whose parts cmake/fmt.cpp names.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(barracuda.fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
  target_compile_features(barracuda.fmt PUBLIC cxx_std_20)
  target_compile_options(barracuda.fmt PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden)
  target_include_directories(barracuda.fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(barracuda.fmt INTERFACE)
  target_link_libraries(barracuda.fmt INTERFACE fmt::fmt-header-only)
endif()
add_library(barracuda::fmt ALIAS barracuda.fmt)
