# One set of compiler flags for every target, set globally: a precompiled header is usable only by a
# unit that was compiled with exactly the same flags, so no target adds its own.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# Libraries of the build folder name their objects and do not copy them: after an edit of one file, an eighth of a second.
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcsT <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "")

# -O1: the time of a lab is spent inside LibTorch, and -O2 costs twice the compile time. What no verdict waits for (tests,
# further commands, what has no tensors) is not optimized: that takes half the compile time.
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
set(LAB_UNOPTIMIZED $<$<CONFIG:Release>:-O0>)
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
# For student code, in every preset: an exception there is reported with its line (common/base/stack/throw_site.h).
set(LAB_LINE_TABLES -g1)
# In every preset, too: a request that is dropped without a wait (api/point_to_point.h) must not compile, while no other
# warning stops a student, or fails a hand-in where the judge was built with LAB_WERROR. And calls go by a function's
# name, so that no caller knows its body: the judge links with the reference in the place of some student files. (Of the
# rest, clang would then inline not even what is declared inline: a message took twice as long.)
set(LAB_STUDENT_OPTIONS ${LAB_LINE_TABLES} -Wno-error -Werror=unused-result -fsemantic-interposition)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # The errors of one file must not hide those of another, where the judge compiles several at a time. And a student's
  # function that ends with a call must be on the stack during it: else its line would be unknown.
  list(APPEND LAB_STUDENT_OPTIONS -ferror-limit=0 -fno-optimize-sibling-calls)
endif()

option(LAB_WERROR "Treat warnings as errors" OFF)
option(LAB_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Winvalid-pch -pthread)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # What g++ takes in silence: a lambda that captures a structured binding; {1, 2, 3} for an array in a struct.
  add_compile_options(-Wno-c++20-extensions -Wno-missing-braces)
endif()
# Products and sums are rounded one by one on every machine: generated pictures are the same everywhere, to the byte.
add_compile_options(-ffp-contract=off)
# An index out of range is an error with its line (common/base/stack/student_place.h). Everywhere, as templates of the C++
# library are shared between units.
add_compile_definitions(_GLIBCXX_ASSERTIONS)
add_compile_options(-fPIC)  # -fsemantic-interposition needs it
if(LAB_WERROR)
  add_compile_options(-Werror)
endif()
if(LAB_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
add_link_options(-pthread)

find_program(LAB_LLD ld.lld)
if(LAB_LLD)
  add_link_options(-fuse-ld=lld)
endif()
