# Every third-party library is found here, by its headers and its library, and becomes one imported target.
# CMAKE_PREFIX_PATH is honoured, so a LibTorch unpacked anywhere can replace the packaged one.

# lab_require_path(VAR header package): the folder of the header, or an error that names what to install.
function(lab_require_path var header package)
  find_path(${var} ${header} ${ARGN})
  if(NOT ${var})
    message(FATAL_ERROR "${header} was not found; expected it from the package ${package}. "
                        "Run ./lab build, which installs what is missing, or: apt-get install ${package}")
  endif()
endfunction()

function(lab_require_library var name package)
  find_library(${var} NAMES ${name} ${ARGN})
  if(NOT ${var})
    message(FATAL_ERROR "lib${name} was not found; expected it from the package ${package}. "
                        "Run ./lab build, which installs what is missing, or: apt-get install ${package}")
  endif()
endfunction()

# lab_require(name header library package): both, as the imported target lab::name.
function(lab_require name header library package)
  string(TOUPPER ${name} upper)
  lab_require_path(LAB_${upper}_INCLUDE ${header} ${package})
  lab_require_library(LAB_${upper}_LIBRARY ${library} ${package})
  add_library(lab_${name} INTERFACE)
  add_library(lab::${name} ALIAS lab_${name})
  target_include_directories(lab_${name} SYSTEM INTERFACE "${LAB_${upper}_INCLUDE}")
  target_link_libraries(lab_${name} INTERFACE "${LAB_${upper}_LIBRARY}")
endfunction()

# What every program needs: threads, text, a command line.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
lab_require_path(LAB_CLI11_INCLUDE CLI/CLI.hpp libcli11-dev)
add_library(lab_cli11 INTERFACE)
add_library(lab::cli11 ALIAS lab_cli11)
target_include_directories(lab_cli11 SYSTEM INTERFACE "${LAB_CLI11_INCLUDE}")

include(CheckCXXSourceCompiles)
# libbacktrace, which finds the source line of a call: optional. It is part of Debian's g++ (libgcc-12-dev), header and
# library, so there is no package to name.
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("#include <backtrace.h>
  int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }" LAB_HAS_BACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
add_library(lab_backtrace INTERFACE)
add_library(lab::backtrace ALIAS lab_backtrace)
if(LAB_HAS_BACKTRACE)
  target_link_libraries(lab_backtrace INTERFACE backtrace)
else()
  message(STATUS "libbacktrace was not found (g++ has it): an exception in student code is reported without its line")
endif()

if(LAB_ONLY_CHECK_LOG)
  set(CMAKE_CXX_STANDARD 17)
  return()
endif()

# LibTorch. Its own TorchConfig pulls in build-time packages that a user does not need, so only headers and
# libraries are looked up.
lab_require_path(LAB_TORCH_INCLUDE ATen/ATen.h libtorch-dev)
lab_require_path(LAB_TORCH_API_INCLUDE torch/torch.h libtorch-dev
                 HINTS "${LAB_TORCH_INCLUDE}/torch/csrc/api/include" PATH_SUFFIXES torch/csrc/api/include)
lab_require_library(LAB_TORCH_CPU_LIBRARY torch_cpu libtorch-dev)
lab_require_library(LAB_C10_LIBRARY c10 libtorch-dev)
find_library(LAB_TORCH_CUDA_LIBRARY torch_cuda)

add_library(lab_torch INTERFACE)
add_library(lab::torch ALIAS lab_torch)
target_include_directories(lab_torch SYSTEM INTERFACE "${LAB_TORCH_INCLUDE}" "${LAB_TORCH_API_INCLUDE}")
target_link_libraries(lab_torch INTERFACE "${LAB_TORCH_CPU_LIBRARY}" "${LAB_C10_LIBRARY}" Threads::Threads)
if(LAB_TORCH_CUDA_LIBRARY)
  # Nothing refers to it by name, so the linker would drop it; loading it is what registers the CUDA kernels.
  target_link_libraries(lab_torch INTERFACE "-Wl,--no-as-needed" "${LAB_TORCH_CUDA_LIBRARY}" "-Wl,--as-needed")
endif()

# The statistics of LibTorch's CUDA allocator: if LibTorch has CUDA and the toolkit's headers are installed.
if(LAB_TORCH_CUDA_LIBRARY)
  find_library(LAB_C10_CUDA_LIBRARY c10_cuda)
  find_path(LAB_CUDA_INCLUDE cuda_runtime_api.h HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include)
  if(LAB_C10_CUDA_LIBRARY AND LAB_CUDA_INCLUDE)
    set(LAB_HAS_CUDA ON)
    add_library(lab_cuda INTERFACE)
    add_library(lab::cuda ALIAS lab_cuda)
    target_include_directories(lab_cuda SYSTEM INTERFACE "${LAB_CUDA_INCLUDE}")
    target_link_libraries(lab_cuda INTERFACE "${LAB_C10_CUDA_LIBRARY}")
  endif()
endif()

# C++17 if LibTorch accepts it, else C++20.
set(CMAKE_REQUIRED_INCLUDES "${LAB_TORCH_INCLUDE}" "${LAB_TORCH_API_INCLUDE}")
set(CMAKE_REQUIRED_FLAGS "-std=c++17")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
check_cxx_source_compiles("#include <c10/core/TensorImpl.h>\nint main() { return 0; }" LAB_TORCH_ACCEPTS_CXX17)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_INCLUDES)
if(LAB_TORCH_ACCEPTS_CXX17)
  set(LAB_DEFAULT_STANDARD 17)
else()
  set(LAB_DEFAULT_STANDARD 20)
endif()
set(LAB_CXX_STANDARD ${LAB_DEFAULT_STANDARD} CACHE STRING "C++ standard: 17 or 20")
set(CMAKE_CXX_STANDARD ${LAB_CXX_STANDARD})

# Gloo, used directly.
lab_require_path(LAB_GLOO_INCLUDE gloo/context.h libgloo-dev)
lab_require_library(LAB_GLOO_LIBRARY gloo libgloo-dev)
add_library(lab_gloo INTERFACE)
add_library(lab::gloo ALIAS lab_gloo)
target_include_directories(lab_gloo SYSTEM INTERFACE "${LAB_GLOO_INCLUDE}")
target_link_libraries(lab_gloo INTERFACE "${LAB_GLOO_LIBRARY}")

# SimGrid, for the simulated world: optional. Its kernel's interface changes between versions, so the installed
# version is tried.
option(LAB_WITH_SIMGRID "Build the simulated world, if SimGrid is found" ON)
add_library(lab_simgrid INTERFACE)
add_library(lab::simgrid ALIAS lab_simgrid)
if(LAB_WITH_SIMGRID)
  find_path(LAB_SIMGRID_INCLUDE simgrid/s4u.hpp)
  find_library(LAB_SIMGRID_LIBRARY simgrid)
  if(LAB_SIMGRID_INCLUDE AND LAB_SIMGRID_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES "${LAB_SIMGRID_INCLUDE}")
    set(CMAKE_REQUIRED_FLAGS "-std=c++17")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("
      #include <simgrid/kernel/Timer.hpp>
      #include <simgrid/s4u.hpp>
      void f() { simgrid::s4u::Activity::on_completion_cb([](const simgrid::s4u::Activity&) {}); }"
      LAB_SIMGRID_IS_KNOWN)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(LAB_SIMGRID_IS_KNOWN)
    set(LAB_HAS_SIMGRID ON)
    target_include_directories(lab_simgrid SYSTEM INTERFACE "${LAB_SIMGRID_INCLUDE}")
    target_link_libraries(lab_simgrid INTERFACE "${LAB_SIMGRID_LIBRARY}")
  elseif(LAB_SIMGRID_INCLUDE)
    message(STATUS "SimGrid: expected version 3.32 or one with the same interface; built without --world sim")
  else()
    message(STATUS "SimGrid was not found (package libsimgrid-dev); built without --world sim")
  endif()
endif()

# Open MPI, a peer that collectives are timed against: optional. Only its C interface is used.
option(LAB_WITH_MPI "Build the peer that runs Open MPI's collectives, if it is found" ON)
if(LAB_WITH_MPI)
  find_path(LAB_MPI_INCLUDE mpi.h HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include"
            PATH_SUFFIXES openmpi mpi)
  find_library(LAB_MPI_LIBRARY mpi HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib")
  if(LAB_MPI_INCLUDE AND LAB_MPI_LIBRARY)
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
  endif()
endif()

# stb, which reads and writes PNG and JPEG: the library holds what its headers only declare.
lab_require(stb stb/stb_image.h stb libstb-dev)

# The archives that students hand in; JUnit XML; a keyed hash.
lab_require(archive archive.h archive libarchive-dev)
lab_require(pugixml pugixml.hpp pugixml libpugixml-dev)
lab_require(sodium sodium.h sodium libsodium-dev)

# What only the judge needs; a starter judges nobody. libseccomp makes the filters of system calls that judged programs
# run under; the others are for many hand-ins: results in SQLite, rosters in CSV, Gradescope's YAML.
if(EXISTS "${PROJECT_SOURCE_DIR}/grading")
  lab_require(seccomp seccomp.h seccomp libseccomp-dev)

  lab_require_path(LAB_SQLITE_INCLUDE SQLiteCpp/SQLiteCpp.h libsqlitecpp-dev)
  lab_require_library(LAB_SQLITECPP_LIBRARY SQLiteCpp libsqlitecpp-dev)
  lab_require_library(LAB_SQLITE_LIBRARY sqlite3 libsqlite3-dev)
  add_library(lab_sqlite INTERFACE)
  add_library(lab::sqlite ALIAS lab_sqlite)
  target_include_directories(lab_sqlite SYSTEM INTERFACE "${LAB_SQLITE_INCLUDE}")
  target_link_libraries(lab_sqlite INTERFACE "${LAB_SQLITECPP_LIBRARY}" "${LAB_SQLITE_LIBRARY}")

  lab_require(csv csv.h csv libcsv-dev)
  lab_require(yaml yaml-cpp/yaml.h yaml-cpp libyaml-cpp-dev)
endif()

# JSON, TOML, HTML templates: headers.
lab_require_path(LAB_JSON_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
lab_require_path(LAB_TOML_INCLUDE toml++/toml.h libtomlplusplus-dev)
lab_require_path(LAB_MUSTACHE_INCLUDE kainjow/mustache.hpp libkainjow-mustache-dev)
foreach(name IN ITEMS JSON TOML MUSTACHE)
  string(TOLOWER ${name} target)
  add_library(lab_${target} INTERFACE)
  add_library(lab::${target} ALIAS lab_${target})
  target_include_directories(lab_${target} SYSTEM INTERFACE "${LAB_${name}_INCLUDE}")
endforeach()

if(BUILD_TESTING)
  lab_require_path(LAB_DOCTEST_INCLUDE doctest/doctest.h doctest-dev)
  add_library(lab_doctest INTERFACE)
  add_library(lab::doctest ALIAS lab_doctest)
  target_include_directories(lab_doctest SYSTEM INTERFACE "${LAB_DOCTEST_INCLUDE}")
endif()
