# The four kinds of target in this project. Each takes SOURCES (names, or patterns with `*`, without those that EXCEPT
# names) and LINK; PCH names the precompiled header it shares: aten (default), student (what student code may see, with
# forbidden names poisoned) or plain (no tensors, not optimized). Tests share unoptimized in place of aten. It is only for what
# runs a short time: the linker takes an inline function from the first unit that has it, optimized or not.

# lab_precompiled_header(name HEADERS ... [LINK ...]): belongs to a small target that others reuse, so it is made once
# per build folder.
function(lab_precompiled_header name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  add_library(lab_pch_${name} STATIC "${PROJECT_SOURCE_DIR}/common/pch/${name}.cpp")
  target_include_directories(lab_pch_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  lab_own_headers_first(lab_pch_${name})
  target_link_libraries(lab_pch_${name} PUBLIC ${ARG_LINK} lab::fmt)
  target_precompile_headers(lab_pch_${name} PRIVATE ${ARG_HEADERS})
  # Units with line tables can only use a precompiled header that has them, too; the others can use either.
  target_compile_options(lab_pch_${name} PRIVATE ${LAB_LINE_TABLES})
  if(name MATCHES "^(unoptimized|plain)$")
    target_compile_options(lab_pch_${name} PRIVATE ${LAB_UNOPTIMIZED})
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Else one that ccache keeps is of no use to a fresh checkout, whose headers are younger.
    target_compile_options(lab_pch_${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# lab_record(target [LINK ...]): `lab starter` takes the sources of the targets that a lab's program is linked with, as
# the build folder's targets.txt lists them: a target, what it is linked with, its sources.
function(lab_record target)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "\\$<|^${PROJECT_BINARY_DIR}")
  list(TRANSFORM sources REPLACE "^([^/].*)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  list(TRANSFORM sources REPLACE "^${PROJECT_SOURCE_DIR}/" "")
  list(JOIN ARG_LINK " " links)
  list(JOIN sources " " sources)
  set_property(GLOBAL APPEND_STRING PROPERTY LAB_TARGETS "${target}\t${links}\t${sources}\n")
endfunction()

# Ends a function that makes a target in a starter that does not have its sources: no lab there is linked with it.
macro(lab_return_if_left_out)
  if(LAB_IS_STARTER)
    foreach(source IN ITEMS ${ARGN})
      if(NOT source MATCHES "[$]<" AND NOT EXISTS "${source}" AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
        return()
      endif()
    endforeach()
  endif()
endmacro()

# In the release preset, up to 24 files are compiled as one, and up to eight of tests, which saves time. Not the
# students', which are rebuilt often; nor in the other presets, which must detect missing includes and are for work on
# single files.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

function(lab_configure_target target)
  cmake_parse_arguments(ARG "" "PCH" "LINK" ${ARGN})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  lab_own_headers_first(${target})
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  lab_record(${target} LINK ${ARG_LINK})
  if(NOT ARG_PCH)
    set(ARG_PCH aten)
  endif()
  if(NOT ARG_PCH STREQUAL plain)
    target_link_libraries(${target} PUBLIC lab::torch)
  endif()
  if(ARG_PCH STREQUAL aten AND target MATCHES "_tests$")
    set(ARG_PCH unoptimized)
  endif()
  if(TARGET lab_pch_${ARG_PCH} AND NOT is_prebuilt)
    target_precompile_headers(${target} REUSE_FROM lab_pch_${ARG_PCH})
  endif()
  if(ARG_PCH MATCHES "^(unoptimized|plain)$")
    target_compile_options(${target} PRIVATE ${LAB_UNOPTIMIZED})
  endif()
  target_link_libraries(${target} PUBLIC lab::fmt)
  if(target MATCHES "_student$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    target_compile_options(${target} PRIVATE ${LAB_STUDENT_OPTIONS})
  elseif(target MATCHES "_tests$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# lab_find_sources(): ARG_SOURCES with the files that its patterns match, without ARG_EXCEPT.
macro(lab_find_sources)
  foreach(pattern IN LISTS ARG_SOURCES)
    if(pattern MATCHES "[*]")
      file(GLOB files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${pattern}")
      if(NOT files)
        message(FATAL_ERROR "${name}: no file matches ${pattern}")
      endif()
      list(REMOVE_ITEM ARG_SOURCES "${pattern}")
      list(APPEND ARG_SOURCES ${files})
    endif()
  endforeach()
  list(REMOVE_ITEM ARG_SOURCES ${ARG_EXCEPT})
endmacro()

# lab_library(name SOURCES ... [EXCEPT ...] LINK ... [PCH ...])
function(lab_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;EXCEPT;LINK" ${ARGN})
  lab_find_sources()
  lab_return_if_left_out(${ARG_SOURCES})
  lab_take_prebuilt()
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  lab_configure_target(${name} PCH ${ARG_PCH} LINK ${ARG_LINK})
endfunction()

# lab_draws(library draws sent): the library calls functions that draw from a seed. They are in `draws`; a program or
# test that is JUDGED gets `sent` instead, where they return what the judge has sent.
function(lab_draws library draws sent)
  lab_record(${library} LINK ${draws})
  target_link_libraries(${library} PUBLIC $<IF:$<BOOL:$<TARGET_PROPERTY:LAB_JUDGED>>,${sent},${draws}>)
endfunction()

# lab_program(name SOURCES ... LINK ... [PCH ...] [APART] [JUDGED]): a binary in bin/, part of the target `programs`;
# APART: not part of it, so that running the labs does not wait for it.
function(lab_program name)
  cmake_parse_arguments(ARG "APART;JUDGED" "PCH" "SOURCES;LINK" ${ARGN})
  lab_return_if_left_out(${ARG_SOURCES})
  lab_take_prebuilt()
  if(ARG_APART)
    add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  else()
    add_executable(${name} ${ARG_SOURCES})
    add_dependencies(programs ${name})
  endif()
  set_target_properties(${name} PROPERTIES LAB_JUDGED ${ARG_JUDGED} LINKER_LANGUAGE CXX)
  lab_configure_target(${name} PCH ${ARG_PCH} LINK ${ARG_LINK})
endfunction()

# lab_tests(name TIER quick|ci|all|nightly SOURCES ... [EXCEPT ...] LINK ... [PCH ...] [JUDGED]): a doctest binary, part of the
# target `tests`, and one ctest entry: every start of a binary that loads LibTorch costs half a second.
function(lab_tests name)
  cmake_parse_arguments(ARG "JUDGED" "PCH;TIER" "SOURCES;EXCEPT;LINK" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  lab_find_sources()
  if(ARG_PCH STREQUAL plain)
    set(main "${PROJECT_SOURCE_DIR}/common/testing/plain_main.cpp")
  else()
    set(main "${PROJECT_SOURCE_DIR}/common/testing/main.cpp")
    list(APPEND ARG_LINK lab_tensor)
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${main} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES LAB_JUDGED ${ARG_JUDGED})
  lab_configure_target(${name} PCH ${ARG_PCH} LINK ${ARG_LINK} lab_testing lab::doctest)
  add_dependencies(tests ${name})
  lab_add_test(${name} TIER ${ARG_TIER} COMMAND ${name} --no-intro --no-version)
endfunction()

# lab_all_world_sizes(name): those of this binary's tests that ask for world_sizes(), with all of them, in the tier `all`.
function(lab_all_world_sizes name)
  if(BUILD_TESTING)
    lab_add_test(${name}_at_all_sizes TIER all COMMAND ${name} --no-intro --no-version "-tc=*world size*,*simulated world*")
    set_property(TEST ${name}_at_all_sizes APPEND PROPERTY ENVIRONMENT LAB_ALL_WORLD_SIZES=1)
  endif()
endfunction()

# These begin first, the longest (lab test --times), which is the last here, before all, so that none of them is left to run
# alone. Of other tests, ctest knows which took longest once they have run in this folder.
set(LAB_LONG_TESTS grading_class_test optc_program_test grading_through_test vae_program_test grading_judge_test
  lab_contract_tests grading_whole_starter)

# lab_add_test(name TIER quick|ci|all|nightly COMMAND ...): a ctest entry labelled with its tier. It sets no time-out:
# `lab test` measures how fast this machine currently is and gives ctest a limit (--timeout); see grading/commands.sh.
function(lab_add_test name)
  cmake_parse_arguments(ARG "" "TIER" "COMMAND" ${ARGN})
  if(NOT ARG_TIER)
    set(ARG_TIER quick)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_TIER} SKIP_RETURN_CODE 77
    ENVIRONMENT "LAB_SOURCE_DIR=${PROJECT_SOURCE_DIR};LAB_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};LAB_PREFIX=${LAB_PREFIX};LAB_LIBTORCH=${LAB_LIBTORCH}")
  list(FIND LAB_LONG_TESTS ${name} place)
  math(EXPR cost "${place} + 1")  # 0 for all others
  set_tests_properties(${name} PROPERTIES COST ${cost})
endfunction()

# lab_embed(library folder): builds the templates, style sheets and scripts of this folder below the current one into the
# library, as constants of the header embedded/CURRENT/FOLDER.h in the namespace lab::embedded: kStyleCss is style.css.
function(lab_embed library folder)
  file(RELATIVE_PATH here "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.mustache" "${folder}/*.css" "${folder}/*.js")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(constants "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    string(REGEX MATCHALL "[A-Za-z0-9]+" words "${name}")
    set(constant k)
    foreach(word IN LISTS words)
      string(SUBSTRING "${word}" 0 1 first)
      string(SUBSTRING "${word}" 1 -1 rest)
      string(TOUPPER "${first}" first)
      string(APPEND constant "${first}${rest}")
    endforeach()
    file(READ "${file}" text)
    string(APPEND constants "inline constexpr std::string_view ${constant} = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/generated/embedded/${here}/${folder}.h" CONTENT
"// Made from ${here}/${folder} by CMake.
#pragma once

#include <string_view>

namespace lab::embedded {
${constants}}  // namespace lab::embedded
")
  target_include_directories(${library} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()

# lab_names(folder): LAB_SHORT_NAME, the part before the first underscore, as users write it (optC), and LAB_NAMESPACE,
# the same in lower case, as code does: its namespace and the prefix of its libraries (optc, optc_cases).
macro(lab_names folder)
  string(REGEX REPLACE "_.*" "" LAB_SHORT_NAME "${folder}")
  string(TOLOWER "${LAB_SHORT_NAME}" LAB_NAMESPACE)
endmacro()

add_custom_target(programs)
add_custom_target(tests)
if(NOT LAB_ONLY_CHECK_LOG)
  lab_precompiled_header(aten HEADERS <ATen/ATen.h> LINK lab::torch)
  lab_precompiled_header(unoptimized HEADERS <ATen/ATen.h> LINK lab::torch)
  lab_precompiled_header(student HEADERS "${PROJECT_SOURCE_DIR}/common/pch/student.h" LINK lab::torch)
  # Not where missing includes must be detected.
  if(CMAKE_UNITY_BUILD)
    lab_precompiled_header(plain HEADERS <algorithm> <array> <chrono> <filesystem> <fstream> <functional> <map> <memory>
      <mutex> <optional> <set> <sstream> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>)
  endif()
endif()
