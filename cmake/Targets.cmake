# jprof_library(NAME SOURCES... [PUBLIC LIB...] [PRIVATE LIB...]): one static library per folder.
function(jprof_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(jprof_${name} STATIC ${ARG_SOURCES})
  add_library(jprof::${name} ALIAS jprof_${name})
  target_link_libraries(jprof_${name} PUBLIC jprof_hosted ${ARG_PUBLIC}
                                      PRIVATE jprof_warnings ${ARG_PRIVATE})
endfunction()

# jprof_program(NAME TARGET SOURCES... LIBRARIES LIB...): an executable in build/<preset>/bin.
function(jprof_program name)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME "${ARG_OUTPUT}")
  target_link_libraries(${name} PRIVATE jprof_hosted jprof_warnings ${ARG_LIBRARIES})
  if(JPROF_STATIC)
    target_link_options(${name} PRIVATE -static)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_link_options(${name} PRIVATE -no-pie)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/static_frames.c")
    target_link_options(${name} PRIVATE -Wl,--eh-frame-hdr -Wl,--wrap=__register_frame_info
                                        -Wl,--wrap=__deregister_frame_info)
    if(CMAKE_CROSSCOMPILING) # the C library before the compiler's own
      target_link_options(${name} PRIVATE "-B${JPROF_STATIC_LIBS}/lib")
    endif()
  elseif(NOT APPLE)
    target_link_options(${name} PRIVATE -pie)
  endif()
  if(APPLE) # always position-independent and bound for good
    target_link_options(${name} PRIVATE -Wl,-dead_strip)
  else()
    target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now -Wl,--gc-sections)
  endif()
endfunction()
