add_library(jprof_warnings INTERFACE)
target_compile_options(jprof_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wformat=2 -Wimplicit-fallthrough
  "$<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast;-Wnon-virtual-dtor;-Woverloaded-virtual>")
# GCC 12, when it optimises, sees overlapping copies in every string that is put together (its bug 105651).
target_compile_options(jprof_warnings INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<CONFIG:Release>>:-Wno-restrict>")
if(JPROF_DEV_MODE)
  target_compile_options(jprof_warnings INTERFACE -Werror)
endif()
