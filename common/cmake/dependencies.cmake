# Every third-party library, by its headers and its library, becomes one imported target here. CMAKE_PREFIX_PATH is
# honoured. The releases are those of Debian's archive; see parts.cmake.
include(parts)

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  lab_note_part(clang ok "${CMAKE_CXX_COMPILER}, version ${CMAKE_CXX_COMPILER_VERSION}")
else()
  lab_note_part(clang off "no version 16 or newer, or not wanted; ${CMAKE_CXX_COMPILER} compiles in its place, more slowly")
endif()

find_package(Threads REQUIRED)
include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)
if(NOT LAB_ONLY_CHECK_LOG)
  include(libtorch)
endif()
if(NOT LAB_CXX_STANDARD)
  set(LAB_CXX_STANDARD 17)
endif()
set(CMAKE_CXX_STANDARD ${LAB_CXX_STANDARD})

# What every program needs: text, a command line.
lab_part(fmt CXX HEADER fmt/format.h LIBRARIES fmt
  RELEASE f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
  SHA256 84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583
  INCLUDE include SOURCES src/format.cc src/os.cc)
lab_part(cli11 HEADER CLI/CLI.hpp
  RELEASE c/cli11/cli11_2.1.2+ds.orig.tar.xz
  SHA256 8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d
  INCLUDE include)

# The source line of an exception (common/base/stack/throw_site.h): optional. libbacktrace is part of Debian's g++
# (libgcc-12-dev), header and library, so there is no package to name. The header lies among g++'s own, which are not for
# clang: so it is copied. Where the C++ library is linked into each program, nobody else can take its throws: so it is
# tried.
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libbacktrace.a
  OUTPUT_VARIABLE backtrace_header OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(backtrace_header "${backtrace_header}" DIRECTORY)
set(backtrace_header "${backtrace_header}/include/backtrace.h")
set(backtrace_folder "${PROJECT_BINARY_DIR}/backtrace")
if(EXISTS "${backtrace_header}")
  file(COPY "${backtrace_header}" DESTINATION "${backtrace_folder}")
endif()
set(CMAKE_REQUIRED_LIBRARIES backtrace ${CMAKE_DL_LIBS})
set(CMAKE_REQUIRED_INCLUDES "${backtrace_folder}" "${PROJECT_SOURCE_DIR}")
set(CMAKE_REQUIRED_DEFINITIONS -DLAB_SEES_THROWS "-DLAB_SOURCE_ROOT=\"\"")
check_cxx_source_runs("#include \"common/base/stack/student_frame.cpp\"
  #include \"common/base/stack/throw_site.cpp\"
  int main() {
    const std::exception_ptr made = std::make_exception_ptr(1);
    try {
      std::rethrow_exception(made);
    } catch (int) {
    }
    try {
      throw 2;
    } catch (int) {
      lab::throw_site(nullptr);
    }
    return latest_throw.stack.num_frames == 0;
  }" LAB_SEES_THROWS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_DEFINITIONS)
add_library(lab_backtrace INTERFACE)
add_library(lab::backtrace ALIAS lab_backtrace)
if(LAB_SEES_THROWS)
  target_link_libraries(lab_backtrace INTERFACE backtrace ${CMAKE_DL_LIBS})
  target_include_directories(lab_backtrace SYSTEM INTERFACE "${backtrace_folder}")
else()
  message(STATUS "An exception in student code is reported without its line: libbacktrace (g++ has it) was not found, "
          "or the C++ library is static")
endif()

if(LAB_ONLY_CHECK_LOG)
  lab_settle_parts()
  return()
endif()

# Gloo, used directly; our own where LibTorch is not the system's, whose own Gloo may be another version.
if(LAB_LIBTORCH)
  set(own_gloo OWN)
endif()
lab_part(gloo CXX ${own_gloo} HEADER gloo/context.h LIBRARIES gloo
  RELEASE g/gloo/gloo_0.0~git20231202.5354032.orig.tar.xz
  SHA256 66d6fadb7b07cfcff08f74ae2acfab504e780d6b7536ee74d2011718cda25030
  INCLUDE . SOURCES gloo/*.cc
  WITHOUT "/(benchmark|examples|test|mpi|nccl|ibverbs|uv|tls)/|/(cuda|redis|win)[^/]*$" WHOLE)
if(LAB_OWN_GLOO)
  set(GLOO_VERSION_MAJOR 0)
  set(GLOO_VERSION_MINOR 5)
  set(GLOO_VERSION_PATCH 0)
  set(GLOO_HAVE_TRANSPORT_TCP ON)
  configure_file("${gloo_SOURCE_DIR}/gloo/config.h.in" "${LAB_RELEASES}/gloo/gloo/config.h")
endif()

# SimGrid, for the simulated world: optional. Its kernel's interface changes between versions, so the installed
# version is tried.
option(LAB_WITH_SIMGRID "Build the simulated world, if SimGrid is found" ON)
add_library(lab_simgrid INTERFACE)
add_library(lab::simgrid ALIAS lab_simgrid)
if(LAB_WITH_SIMGRID AND NOT LAB_OLD_STRING)
  find_path(LAB_SIMGRID_INCLUDE simgrid/s4u.hpp)
  find_library(LAB_SIMGRID_LIBRARY simgrid)
  if(LAB_SIMGRID_INCLUDE AND LAB_SIMGRID_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES "${LAB_SIMGRID_INCLUDE}")
    set(CMAKE_REQUIRED_FLAGS "-std=c++17")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("
      #include <simgrid/kernel/Timer.hpp>
      #include <simgrid/s4u.hpp>
      #include <simgrid/version.h>
      #if SIMGRID_VERSION >= 40000
      using Completed = simgrid::s4u::Comm;
      #else
      using Completed = simgrid::s4u::Activity;
      #endif
      void f() { Completed::on_completion_cb([](const Completed&) {}); }"
      LAB_SIMGRID_IS_KNOWN)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(LAB_SIMGRID_IS_KNOWN)
    set(LAB_HAS_SIMGRID ON)
    lab_note_part(simgrid ok "${LAB_SIMGRID_INCLUDE}/simgrid/s4u.hpp")
    target_include_directories(lab_simgrid SYSTEM INTERFACE "${LAB_SIMGRID_INCLUDE}")
    target_link_libraries(lab_simgrid INTERFACE "${LAB_SIMGRID_LIBRARY}")
  elseif(LAB_SIMGRID_INCLUDE)
    lab_note_part(simgrid off "expected version 3.32, 4.0 or one with the interface of either; without it there is no --world sim")
  else()
    lab_note_part(simgrid off "not found; without it there is no --world sim")
    lab_look_again()
  endif()
endif()

# Open MPI, a peer that collectives are timed against: optional. Only its C interface is used.
option(LAB_WITH_MPI "Build the peer that runs Open MPI's collectives, if it is found" ON)
if(LAB_WITH_MPI)
  find_path(LAB_MPI_INCLUDE mpi.h HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include"
            PATH_SUFFIXES openmpi mpi)
  find_library(LAB_MPI_LIBRARY mpi HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib")
  if(LAB_MPI_INCLUDE AND LAB_MPI_LIBRARY)
    if(NOT LAB_MPI_IS_OPEN_MPI)
      unset(LAB_MPI_IS_OPEN_MPI CACHE)  # another one was looked at
    endif()
    set(CMAKE_REQUIRED_INCLUDES "${LAB_MPI_INCLUDE}")
    set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("#include <mpi.h>\nint version() { return OMPI_MAJOR_VERSION; }" LAB_MPI_IS_OPEN_MPI)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    unset(CMAKE_REQUIRED_DEFINITIONS)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(LAB_MPI_IS_OPEN_MPI)
    set(LAB_HAS_MPI ON)
    add_library(lab_mpi INTERFACE)
    add_library(lab::mpi ALIAS lab_mpi)
    target_include_directories(lab_mpi SYSTEM INTERFACE "${LAB_MPI_INCLUDE}")
    target_compile_definitions(lab_mpi INTERFACE OMPI_SKIP_MPICXX)
    target_link_libraries(lab_mpi INTERFACE "${LAB_MPI_LIBRARY}")
  else()
    message(STATUS "Open MPI was not found (packages libopenmpi-dev, openmpi-bin); built without the peer bench_mpi")
    lab_look_again()
  endif()
endif()

# Pictures: what its headers only declare is in the system's library, or compiled here.
file(CONFIGURE OUTPUT "${LAB_RELEASES}/stb.c" CONTENT
"#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
")
lab_part(stb HEADER stb/stb_image.h LIBRARIES stb
  RELEASE libs/libstb/libstb_0.0~git20220908.8b5f1f3+ds.orig.tar.xz
  SHA256 6949c8ff9f86d982cff1b384f1301a731cbaf3b3fa4d1728c7b48a02386d31d8
  INTO stb ALSO "${LAB_RELEASES}/stb.c")

# The archives that students hand in; JUnit XML; a keyed hash.
lab_part(archive HEADER archive.h LIBRARIES archive
  RELEASE liba/libarchive/libarchive_3.6.2.orig.tar.xz
  SHA256 9e2c1b80d5fbe59b61308fdfab6c79b5021d7ff4ff2489fb12daf0a96a83551d
  INCLUDE libarchive SOURCES libarchive/*.c WITHOUT "/test/|windows|/archive_disk_acl_(darwin|freebsd|sunos)"
  DEFINITIONS [[PLATFORM_CONFIG_H="archive_config.h"]])
if(LAB_OWN_ARCHIVE)
  # For any Linux, but for one library that is not needed. Zip files need zlib.
  file(READ "${archive_SOURCE_DIR}/contrib/android/config/linux_host.h" config)
  string(REGEX REPLACE "#define HAVE_(LIBLZMA|LZMA_H) 1" "" config "${config}")
  check_cxx_source_compiles("#include <cstdlib>
    int main() { char c[1]; arc4random_buf(c, 1); }" LAB_HAS_ARC4RANDOM)
  if(LAB_HAS_ARC4RANDOM)
    string(APPEND config "#define HAVE_ARC4RANDOM_BUF 1\n")
  endif()
  file(CONFIGURE OUTPUT "${LAB_RELEASES}/archive/archive_config.h"
       CONTENT "#define __LIBARCHIVE_CONFIG_H_INCLUDED 1\n${config}" @ONLY)
  lab_part(zlib HEADER zlib.h LIBRARIES z
    RELEASE z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2
    SHA256 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
    INCLUDE . SOURCES *.c WITHOUT "^(contrib|examples|test)/" DEFINITIONS HAVE_UNISTD_H=1)
  target_link_libraries(lab_own_archive PUBLIC lab_zlib)
endif()
lab_part(pugixml CXX HEADER pugixml.hpp LIBRARIES pugixml
  RELEASE p/pugixml/pugixml_1.13.orig.tar.gz
  SHA256 5c5ad5d7caeb791420408042a7d88c2c6180781bf218feca259fd9d840a888e1
  INCLUDE src SOURCES src/*.cpp)
lab_part(sodium HEADER sodium.h LIBRARIES sodium
  RELEASE libs/libsodium/libsodium_1.0.18.orig.tar.gz
  SHA256 d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4
  INCLUDE src/libsodium/include SOURCES src/libsodium/*.c PRIVATE src/libsodium/include/sodium builds/msvc
  DEFINITIONS CONFIGURED=1)
if(LAB_OWN_SODIUM)
  file(COPY "${sodium_SOURCE_DIR}/src/libsodium/include/sodium" "${sodium_SOURCE_DIR}/src/libsodium/include/sodium.h"
       DESTINATION "${LAB_RELEASES}/sodium")
  file(COPY "${sodium_SOURCE_DIR}/builds/msvc/version.h" DESTINATION "${LAB_RELEASES}/sodium/sodium")
endif()

# What only the judge needs; a starter judges nobody. libseccomp makes the filters of system calls that judged programs
# run under; the others are for many hand-ins: results in SQLite, rosters in CSV, Gradescope's YAML, names in Unicode.
if(EXISTS "${PROJECT_SOURCE_DIR}/grading")
  lab_part(seccomp HEADER seccomp.h LIBRARIES seccomp
    RELEASE libs/libseccomp/libseccomp_2.5.4.orig.tar.gz
    SHA256 d82902400405cf0068574ef3dc1fe5f5926207543ba1ae6f8e7a1576351dcbdb
    INCLUDE include SOURCES src/*.c WITHOUT "arch-syscall-dump" DEFINITIONS _GNU_SOURCE=1)
  file(CONFIGURE OUTPUT "${LAB_RELEASES}/seccomp/configure.h" CONTENT "#define HAVE_LINUX_SECCOMP_H 1\n")
  lab_part(sqlite CXX HEADER SQLiteCpp/SQLiteCpp.h LIBRARIES SQLiteCpp sqlite3
    RELEASE s/sqlitecpp/sqlitecpp_3.2.1.orig.tar.gz
    SHA256 70c67d5680c47460f82a7abf8e6b0329bf2fb10795a982a6d8abc06adb42d693
    INCLUDE include SOURCES src/*.cpp sqlite3/sqlite3.c PRIVATE sqlite3)
  lab_part(csv HEADER csv.h LIBRARIES csv
    RELEASE libc/libcsv/libcsv_3.0.3+dfsg.orig.tar.gz
    SHA256 06fddfaca720a4be7603bad63eb1833bca5b6c5a69b42b1c518a02cda2a73aef
    INCLUDE . SOURCES libcsv.c)
  lab_part(yaml CXX HEADER yaml-cpp/yaml.h LIBRARIES yaml-cpp
    RELEASE y/yaml-cpp/yaml-cpp_0.7.0+dfsg.orig.tar.xz
    SHA256 dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312
    INCLUDE include SOURCES src/*.cpp)
  lab_part(utf8proc HEADER utf8proc.h LIBRARIES utf8proc
    RELEASE u/utf8proc/utf8proc_2.8.0.orig.tar.gz
    SHA256 a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc
    INCLUDE . SOURCES utf8proc.c)
endif()

# JSON, TOML, HTML templates, tests: headers.
lab_part(json HEADER nlohmann/json.hpp
  RELEASE n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz
  SHA256 d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273
  INCLUDE include)
lab_part(toml HEADER toml++/toml.h
  RELEASE t/tomlplusplus/tomlplusplus_3.3.0+ds.orig.tar.xz
  SHA256 a143f15016090d88d72e018632efa43b1124bb62285d8c72d51d0cdb45ad787b
  INCLUDE include)
lab_part(mustache HEADER kainjow/mustache.hpp
  RELEASE libk/libkainjow-mustache/libkainjow-mustache_4.1+ds.orig.tar.xz
  SHA256 da0ed0c7d9842cf9f68f9f7e3f58e456efc5a7d6c05cb8786f98ed3979e56685
  INTO kainjow)
if(BUILD_TESTING)
  lab_part(doctest HEADER doctest/doctest.h
    RELEASE d/doctest/doctest_2.4.9~ds.orig.tar.xz
    SHA256 7cc78169975bea36e70ab9d67e7de9b03d89b38653499ad03243e3944429b1ab
    INCLUDE .)
endif()
include(unused_libraries)
lab_settle_parts()
