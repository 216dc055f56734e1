# SPDX-License-Identifier: MIT
#
# QuernstoneDepends.cmake: what the library is built on, each as a target.

find_package(OpenCL REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.7)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)
if(QST_BUILD_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
