# What Debian does not ship as a useful static archive: its libcurl.a needs a dozen libraries that we do
# not use, and there is no libwslay.a. scripts/parts static-libs builds both from Debian's sources.
set(JPROF_STATIC_LIBS "" CACHE PATH "Prefix printed by: scripts/parts static-libs")
if(NOT EXISTS "${JPROF_STATIC_LIBS}/lib/libcurl.a")
  message(FATAL_ERROR "JPROF_STATIC needs -DJPROF_STATIC_LIBS=$(scripts/parts static-libs)")
endif()
list(PREPEND CMAKE_PREFIX_PATH "${JPROF_STATIC_LIBS}")
if(CMAKE_CROSSCOMPILING) # there all static libraries are in it, that of C included
  set(OPENSSL_ROOT_DIR "${JPROF_STATIC_LIBS}")
endif()

function(jprof_static_curl)
  add_library(jprof_curl INTERFACE)
  target_include_directories(jprof_curl SYSTEM INTERFACE "${JPROF_STATIC_LIBS}/include")
  target_compile_definitions(jprof_curl INTERFACE CURL_STATICLIB)
  target_link_libraries(jprof_curl INTERFACE "${JPROF_STATIC_LIBS}/lib/libcurl.a" OpenSSL::SSL
    OpenSSL::Crypto)
endfunction()
