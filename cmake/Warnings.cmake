add_library(jprof_warnings INTERFACE)
target_compile_options(jprof_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wformat=2 -Wimplicit-fallthrough
  "$<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast;-Wnon-virtual-dtor;-Woverloaded-virtual>")
if(JPROF_DEV_MODE)
  target_compile_options(jprof_warnings INTERFACE -Werror)
endif()
