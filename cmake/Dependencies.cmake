# Every third-party library, in one place. All come from Debian 12 packages (scripts/install); which folder
# may include which is in scripts/check_layers.py, and why we have them in ARCHITECTURE.md.
if(JPROF_STATIC)
  include(StaticLibraries)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto SSL)
find_package(ZLIB REQUIRED)
find_package(CLI11 2.1 CONFIG REQUIRED)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)

# Libraries whose packages have no CMake file, or one that names only the shared object.
function(jprof_find_library target header library)
  find_path(JPROF_${target}_INCLUDE ${header} REQUIRED)
  find_library(JPROF_${target}_LIBRARY ${library} REQUIRED)
  add_library(jprof_${target} INTERFACE)
  target_include_directories(jprof_${target} SYSTEM INTERFACE "${JPROF_${target}_INCLUDE}")
  target_link_libraries(jprof_${target} INTERFACE "${JPROF_${target}_LIBRARY}")
endfunction()
jprof_find_library(yaml yaml-cpp/yaml.h yaml-cpp)
jprof_find_library(zstd zstd.h zstd)
jprof_find_library(wslay wslay/wslay.h wslay)
jprof_find_library(expat expat.h expat)

# spdlog and fmt are used header-only: Debian ships no static archive of either.
find_path(JPROF_SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
add_library(jprof_spdlog INTERFACE)
target_include_directories(jprof_spdlog SYSTEM INTERFACE "${JPROF_SPDLOG_INCLUDE}")
target_compile_definitions(jprof_spdlog INTERFACE SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL
  FMT_HEADER_ONLY)

if(JPROF_STATIC)
  jprof_static_curl()
else()
  find_package(CURL 7.85 REQUIRED)
  add_library(jprof_curl INTERFACE)
  target_link_libraries(jprof_curl INTERFACE CURL::libcurl)
endif()
