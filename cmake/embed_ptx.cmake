# cmake -DPTX=… -DVERSION=… -DOUTPUT=… [-DVISIBLE=ON] -P embed_ptx.cmake: PTX text as a C++ raw string literal, without
# comments, and with the lowest .version that has what it uses: the program's own may be older than
# the compiler that built us.
file(READ "${PTX}" text)
string(REGEX REPLACE "//[^\n]*" "" text "${text}")
string(REGEX REPLACE "\\.version [0-9.]+" ".version ${VERSION}" text "${text}")
# A hint that only versions from 8.3 on know.
string(REGEX REPLACE "\\.pragma \"used_bytes_mask[^;]*;" "" text "${text}")
string(REGEX REPLACE "[\t ]+" " " text "${text}")
string(REGEX REPLACE "\n[\n ]*" "\n" text "${text}")
# The logger's functions are to be local where it is linked in; a kernel is looked for by its name.
if(NOT VISIBLE)
  string(REGEX REPLACE "\\.visible (\\.func|\\.shared)" "\\1" text "${text}")
endif()
file(WRITE "${OUTPUT}" "R\"ptx(${text})ptx\"\n")
file(WRITE "${OUTPUT}.ptx" "${text}")
