find_package(GTest REQUIRED)
include(GoogleTest)

# Builds what label "unit" needs and nothing else: what the sanitizer builds are for.
add_custom_target(unit_tests)

# jprof_unit_test(NAME SOURCES... LIBRARIES LIB...): one binary per library target, label "unit".
function(jprof_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT JPROF_BUILD_TESTS)
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE jprof_hosted jprof_warnings ${ARG_LIBRARIES}
                                             GTest::gtest GTest::gmock GTest::gtest_main)
  add_dependencies(unit_tests ${name}_test)
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

# jprof_integration_test(NAME COMMAND ... [TIMEOUT S]): a script or program against real parts.
function(jprof_integration_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND" ${ARGN})
  if(NOT JPROF_BUILD_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  list(POP_FRONT ARG_COMMAND program)
  if(TARGET "${program}") # add_test sees to that of its first word only
    set(program "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME ${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/support/without_ended_jvms" "${program}" ${ARG_COMMAND}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS integration TIMEOUT ${ARG_TIMEOUT}
    SKIP_RETURN_CODE 77 ENVIRONMENT "JPROF_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# jprof_fuzzer(NAME SOURCE LIBRARIES LIB...): with JPROF_BUILD_FUZZERS a libFuzzer program; with the
# tests, a replay of tests/fuzz/corpus/NAME (seeds and past crashes) without a fuzzing engine.
function(jprof_fuzzer name source)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  set(corpus "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  if(JPROF_BUILD_FUZZERS)
    add_executable(${name}_fuzzer ${source})
    target_link_libraries(${name}_fuzzer PRIVATE jprof_hosted jprof_warnings ${ARG_LIBRARIES})
    target_link_options(${name}_fuzzer PRIVATE -fsanitize=fuzzer)
  endif()
  if(JPROF_BUILD_TESTS)
    add_executable(${name}_replay ${source} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp")
    target_link_libraries(${name}_replay PRIVATE jprof_hosted jprof_warnings ${ARG_LIBRARIES})
    add_dependencies(unit_tests ${name}_replay)
    add_test(NAME fuzz_replay_${name} COMMAND ${name}_replay "${corpus}")
    set_tests_properties(fuzz_replay_${name} PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()
