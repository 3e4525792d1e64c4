# SPDX-License-Identifier: Apache-2.0
# CPack runs this on the tree to pack. It adds the libraries that the program uses and that a bare machine lacks to
# the archive. The C and C++ run time is on every machine, and LibTorch is found at run time.
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
file(GLOB_RECURSE own ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/libmase_*.so)
list(GET own 0 first)
get_filename_component(folder ${first} DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${own}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^libmase_" "^libtorch" "^libc10"
    "^libgomp" "^lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so" "^ld-linux")
foreach(library ${found})
  file(COPY ${library} DESTINATION ${folder} FOLLOW_SYMLINK_CHAIN)
endforeach()
if(missing)
  message(FATAL_ERROR "libraries that the archive needs were not found: ${missing}")
endif()
