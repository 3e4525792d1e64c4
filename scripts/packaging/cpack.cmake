# SPDX-License-Identifier: Apache-2.0
# Describes the packages of scripts/package: a .deb for the distribution on which it is made, and an archive for others,
# which includes the libraries that a bare machine lacks. Neither includes LibTorch, which is found at run time.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mase RENAME copyright)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME mase)
set(CPACK_PACKAGE_VENDOR "mase maintainers")
set(CPACK_PACKAGE_CONTACT "mase maintainers <maintainers@mase.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "PyTorch models to quantized checkpoints and SystemVerilog accelerators")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pip, verilator, yosys, graphviz, g++, make")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
if(MASE_TORCH)
  get_filename_component(libtorch_folder ${TORCH_LIBRARY} DIRECTORY)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${libtorch_folder})
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)
include(CPack)
