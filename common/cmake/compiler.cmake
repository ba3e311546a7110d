# Which compiler: clang++, where there is one that works. It keeps in a precompiled header what LibTorch's templates become,
# which g++ makes anew for every file that uses the header: to build A9's program takes under two thirds of the time, and
# a student's file a fifth.
# From version 16 on it takes all that g++ does in student code. CXX, or CMAKE_CXX_COMPILER, names another compiler. Not
# under sanitizers: their libraries for clang are another package. Nor where C++20 is asked for: clang refuses the headers
# of LibTorch 1.13 as C++20 (a std::vector of an incomplete type). Included before project(), which tries the compiler.
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX} AND NOT LAB_SANITIZE AND NOT LAB_CXX_STANDARD EQUAL 20)
  foreach(name IN ITEMS clang++ clang++-20 clang++-19 clang++-18 clang++-17 clang++-16)
    unset(clang)
    find_program(clang ${name} NO_CACHE)
    if(NOT clang)
      continue()
    endif()
    # It takes the standard library of the newest g++, whose headers may be missing.
    execute_process(COMMAND "${clang}" -std=c++17 -dM -E -x c++ -include vector /dev/null
      OUTPUT_VARIABLE macros ERROR_QUIET)
    if(macros MATCHES "#define __clang_major__ ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 16)
      set(CMAKE_CXX_COMPILER "${clang}")
      break()
    endif()
  endforeach()
endif()
