#include "common/base/stack/student_frame.h"

#ifdef LAB_SEES_THROWS
#include <backtrace.h>
#include <link.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <atomic>
#include <cstdio>
#endif

namespace lab {

std::string_view student_file(std::string_view path, std::string_view source_root) {
  if (path.substr(0, source_root.size()) == source_root) path.remove_prefix(source_root.size());
  const std::size_t folder = path.rfind("/student/");
  if (folder != std::string_view::npos) return path.substr(folder + 1);
  return path.substr(0, 8) == "student/" ? path : std::string_view();  // as it was given to the compiler
}

}  // namespace lab

#ifdef LAB_SEES_THROWS

/// In place of the C library's for libbacktrace alone, as libraries do not see it: only the program has student code, and
/// to read the symbols of LibTorch, too, takes 0.2 s.
extern "C" [[gnu::visibility("hidden")]] int only_the_program(int (*look)(dl_phdr_info*, std::size_t, void*),
                                                              void* data) __asm__("dl_iterate_phdr");
extern "C" int only_the_program(int (*look)(dl_phdr_info*, std::size_t, void*), void* data) {
  dl_phdr_info program{};
  program.dlpi_name = "";
  program.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  program.dlpi_phnum = static_cast<ElfW(Half)>(::getauxval(AT_PHNUM));
  for (std::size_t i = 0; i < program.dlpi_phnum; ++i) {
    if (program.dlpi_phdr[i].p_type == PT_PHDR)
      program.dlpi_addr = reinterpret_cast<ElfW(Addr)>(program.dlpi_phdr) - program.dlpi_phdr[i].p_vaddr;
  }
  return look(&program, sizeof program, data);
}

namespace lab {
namespace {

_Unwind_Reason_Code keep_frame(_Unwind_Context* context, void* data) {
  CallStack& stack = *static_cast<CallStack*>(data);
  if (stack.num_frames == stack.frames.size()) return _URC_END_OF_STACK;
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  // One byte before a return address, which may already belong to the next line.
  stack.frames[stack.num_frames++] = address - (is_interrupted != 0 ? 0 : 1);
  return _URC_NO_REASON;
}

struct Search {
  StudentFrame found;
  bool no_lines = false;
};

int look_at_line(void* data, std::uintptr_t, const char* file, int line, const char*) {
  auto& search = *static_cast<Search*>(data);
  const std::string_view student = file == nullptr ? std::string_view() : student_file(file, LAB_SOURCE_ROOT);
  if (student.empty()) return 0;
  std::snprintf(search.found.line.data(), search.found.line.size(), "%.*s:%d", static_cast<int>(student.size()),
                student.data(), line);
  return 1;  // the innermost is enough
}

/// Also called for a file that libbacktrace cannot read, which is not fatal; error -1 means that there is no line table
/// at all.
void note_missing_lines(void* data, const char*, int error) {
  if (error == -1) static_cast<Search*>(data)->no_lines = true;
}

/// Never freed: libbacktrace has no function for that. Made twice if two threads are the first.
backtrace_state* line_tables(Search& search) {
  static std::atomic<backtrace_state*> made = nullptr;
  if (made.load() == nullptr) made.store(::backtrace_create_state(nullptr, 1, note_missing_lines, &search));
  return made.load();
}

}  // namespace

void CallStack::capture() {
  num_frames = 0;
  _Unwind_Backtrace(keep_frame, this);
}

StudentFrame student_frame(const CallStack& stack) {
  Search search;
  backtrace_state* const state = line_tables(search);
  if (state == nullptr) return {};
  for (std::size_t i = 0; i < stack.num_frames && search.found.line[0] == '\0' && !search.no_lines; ++i)
    ::backtrace_pcinfo(state, stack.frames[i], look_at_line, note_missing_lines, &search);
  search.found.known = !search.no_lines;
  return search.found;
}

void read_line_tables() {
  CallStack stack;
  stack.capture();
  student_frame(stack);
}

}  // namespace lab

#else

void lab::CallStack::capture() {
  num_frames = 0;
}

lab::StudentFrame lab::student_frame(const CallStack&) {
  return {};
}

void lab::read_line_tables() {}

#endif
