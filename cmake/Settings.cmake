# jprof_settings: what all our C++ targets are compiled with.
add_library(jprof_settings INTERFACE)
target_compile_features(jprof_settings INTERFACE cxx_std_20)
target_include_directories(jprof_settings INTERFACE "${PROJECT_SOURCE_DIR}")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(jprof_settings INTERFACE JPROF_VERSION="${JPROF_VERSION}")
# File names in messages and in debug information do not reveal where the checkout is, so that two build the same bytes. For what is
# shipped they are written as a compiler behind ccache sees them (CCACHE_BASEDIR: relative to the build folder), so that it makes
# no difference either whether there is a cache.
set(prefix "")
if(JPROF_STATIC)
  file(RELATIVE_PATH prefix "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
  if(NOT prefix MATCHES "/$")
    string(APPEND prefix "/")
  endif()
endif()
target_compile_options(jprof_settings INTERFACE
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=${prefix}" -fno-omit-frame-pointer)
if(JPROF_STATIC)
  target_compile_options(jprof_settings INTERFACE "-ffile-prefix-map=${CMAKE_BINARY_DIR}/=")
endif()
unset(prefix)

# jprof_hosted: in addition, for everything that runs outside the JVM (all but agent/).
add_library(jprof_hosted INTERFACE)
target_link_libraries(jprof_hosted INTERFACE jprof_settings)
target_compile_definitions(jprof_hosted INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(jprof_hosted INTERFACE -fstack-protector-strong
  "$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
if(JPROF_SANITIZE)
  target_compile_options(jprof_hosted INTERFACE "-fsanitize=${JPROF_SANITIZE}"
    -fno-sanitize-recover=all)
  target_link_options(jprof_hosted INTERFACE "-fsanitize=${JPROF_SANITIZE}")
  if(JPROF_SANITIZE STREQUAL "thread")
    # GCC's ThreadSanitizer does not see fences; ours order reads by system call, of which it knows nothing either.
    target_compile_options(jprof_hosted INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>")
  endif()
endif()
