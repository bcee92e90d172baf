# A toolchain file: Debian's cross compiler for arm64. JPROF_STATIC_LIBS=$(scripts/parts static-libs-arm64) has the libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Libraries of this machine are of no use; headers that are the same everywhere and what lists them are.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_PREFIX_PATH} ${JPROF_STATIC_LIBS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(PKG_CONFIG_EXECUTABLE "" CACHE FILEPATH "pkg-config knows this machine's libraries alone")
