# Device code as PTX text in a C++ raw string literal. Each is assembled once here, so that PTX that ptxas refuses
# fails our build and not a user's run.
#
# barracuda_device_ptx(NAME ARCH VERSION [VISIBLE] [more of nvcc's flags]): NAME.cu of the current folder, or below
# it, as the literal FOLDER/NAME_ARCH.inc, found by who adds generated/ to its include path; it joins the list device_literals.
# VISIBLE: its functions are linked with by their names.
function(barracuda_device_ptx source arch version)
  cmake_parse_arguments(ARG "VISIBLE" "" "" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(literal ${CMAKE_CURRENT_BINARY_DIR}/generated/${folder}/${source}_${arch}.inc)
  get_filename_component(beside ${CMAKE_CURRENT_SOURCE_DIR}/${source}.cu DIRECTORY)
  get_filename_component(made ${literal} DIRECTORY)
  file(GLOB device_headers CONFIGURE_DEPENDS ${beside}/*.h ${beside}/*.cuh)
  set(embed ${PROJECT_SOURCE_DIR}/cmake/embed_ptx.cmake)
  file(MAKE_DIRECTORY ${made})
  add_custom_command(OUTPUT ${literal}
    COMMAND ${BARRACUDA_NVCC} -std=c++20 -O3 ${ARG_UNPARSED_ARGUMENTS} -ptx -arch=compute_${arch} -I${PROJECT_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/${source}.cu -o ${literal}.from_nvcc
    COMMAND ${CMAKE_COMMAND} -DPTX=${literal}.from_nvcc -DVERSION=${version} -DOUTPUT=${literal} -DVISIBLE=${ARG_VISIBLE} -P ${embed}
    COMMAND ${BARRACUDA_PTXAS} -c -arch=sm_${arch} ${literal}.ptx
            -o ${literal}.cubin
    DEPENDS ${source}.cu ${embed} ${device_headers}
    COMMENT "nvcc ${source} (compute_${arch})" VERBATIM)
  set(device_literals ${device_literals} ${literal} PARENT_SCOPE)
endfunction()
