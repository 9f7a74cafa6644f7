# barracuda.build_interface carries every flag that our targets are built with.
# -Wno-missing-field-initializers: designated initialisers leave members out on purpose.
add_library(barracuda.build_interface INTERFACE)
target_compile_features(barracuda.build_interface INTERFACE cxx_std_20)
target_include_directories(barracuda.build_interface INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(barracuda.build_interface INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wcast-qual -Wundef -Wnon-virtual-dtor -Woverloaded-virtual
  -Wswitch-enum -Wimplicit-fallthrough -Wvla -Wno-missing-field-initializers
  -fvisibility=hidden -fvisibility-inlines-hidden -fno-strict-aliasing
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

option(BARRACUDA_WERROR "Warnings are errors" OFF)
if(BARRACUDA_WERROR)
  target_compile_options(barracuda.build_interface INTERFACE -Werror)
endif()

set(BARRACUDA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (empty: none)")
if(BARRACUDA_SANITIZE)
  target_compile_options(barracuda.build_interface INTERFACE
    -fsanitize=${BARRACUDA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(barracuda.build_interface INTERFACE -fsanitize=${BARRACUDA_SANITIZE})
endif()
