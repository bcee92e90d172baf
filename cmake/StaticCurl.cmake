# Debian's libcurl.a wants a dozen libraries that we do not use; scripts/parts curl-static builds the
# same source with HTTP(S) only.
set(JPROF_CURL_STATIC "" CACHE PATH "Prefix printed by: scripts/parts curl-static")
if(NOT EXISTS "${JPROF_CURL_STATIC}/lib/libcurl.a")
  message(FATAL_ERROR "JPROF_STATIC needs -DJPROF_CURL_STATIC=$(scripts/parts curl-static)")
endif()
add_library(jprof_curl INTERFACE)
target_include_directories(jprof_curl SYSTEM INTERFACE "${JPROF_CURL_STATIC}/include")
target_compile_definitions(jprof_curl INTERFACE CURL_STATICLIB)
target_link_libraries(jprof_curl INTERFACE "${JPROF_CURL_STATIC}/lib/libcurl.a" OpenSSL::SSL
  OpenSSL::Crypto)
