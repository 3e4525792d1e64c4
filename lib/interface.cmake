# SPDX-License-Identifier: Apache-2.0
# Writes a source that defines the text SYMBOL, "NAME HASH": a hash of all headers of some rooms.
#
#   cmake -D LIB=lib "-D ROOMS=base;solver" -D NAME=cbc -D SYMBOL=mase_interface_cbc -D OUT=FILE -P lib/interface.cmake
list(TRANSFORM ROOMS REPLACE "(.+)" "${LIB}/\\1/*.hpp" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE headers RELATIVE ${LIB} ${patterns})
foreach(header ${headers})
  file(SHA256 ${LIB}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
# The file is left alone if nothing has changed, so that nothing is compiled again.
file(CONFIGURE OUTPUT ${OUT} CONTENT "extern \"C\" {
extern const char ${SYMBOL}[];
const char ${SYMBOL}[] = \"${NAME} ${hash}\";
}
")
