#include "common/base/stack/throw_site.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <forward_list>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>

#include "common/base/failure.h"
#include "common/base/subprocess.h"
#include "common/cli/guarded_main.h"
#include "common/testing/captured.h"
#include "common/testing/plain_test.h"
#include "common/testing/student/throwing.h"

using lab::student_file;
using lab::throw_site;
using lab::ThrowSite;
namespace student = lab::testing;

namespace {

ThrowSite find_site(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& failure) {
    return throw_site(&failure);
  } catch (...) {
    return throw_site(nullptr);
  }
  return {};
}

void fail_elsewhere() {
  throw std::runtime_error("not the student's own");
}

std::string student_line(int line) {
  return fmt::format("student/throwing.cpp:{}", line);
}

/// Without libbacktrace, every throw site is unknown.
bool skipped() {
  if (find_site(fail_elsewhere).known) return false;
  MESSAGE("skipped: built without libbacktrace");
  return true;
}

}  // namespace

TEST_CASE("throw site: the innermost line in a student file, whatever throws below it") {
  if (skipped()) return;
  CHECK(find_site([] { student::beyond_end({1, 2}); }).student_line == student_line(student::kBeyondEndLine));
  CHECK(find_site(student::throw_number).student_line == student_line(student::kThrowNumberLine));
  CHECK(find_site([] { student::call(fail_elsewhere); }).student_line == student_line(student::kCallLine));
}

TEST_CASE("throw site: a loop that takes all memory is found, though the allocator keeps what is free again") {
  constexpr const char* kIsChild = "THROW_SITE_FILLS_MEMORY";
  if (std::getenv(kIsChild) == nullptr) {
    if (skipped()) return;
    // A process that has not read its line tables.
    lab::ProcessSpec again;
    again.argv = {lab::own_program(), "-tc=*takes all memory*"};
    again.environment = {{kIsChild, "1"}};
    const lab::ProgramEnd end = lab::run_program(again);
    CHECK_MESSAGE(end.well(), end.out);
    return;
  }
  mallopt(M_MMAP_MAX, 0);  // as a rank does
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  const rlimit most = {std::size_t{1} << 29, std::size_t{1} << 29};
  REQUIRE(setrlimit(RLIMIT_AS, &most) == 0);
  const ThrowSite site = find_site([] {
    student::call([] {
      std::forward_list<std::array<char, 4096>> all;
      for (;;) all.emplace_front();
    });
  });
  CHECK(site.student_line == student_line(student::kCallLine));
}

TEST_CASE("throw site: a throw outside of student code has no student line, but is known") {
  if (skipped()) return;
  const ThrowSite site = find_site(fail_elsewhere);
  CHECK(site.known);
  CHECK(site.student_line.empty());
}

TEST_CASE("throw site: an exception keeps its line when it is thrown again, not when another came after it") {
  if (skipped()) return;
  const auto throw_again = [] {
    try {
      student::beyond_end({});
    } catch (const std::exception&) {
      throw;
    }
  };
  CHECK(find_site(throw_again).student_line == student_line(student::kBeyondEndLine));
  try {
    student::beyond_end({});
  } catch (const std::exception& failure) {
    CHECK(find_site(fail_elsewhere).known);
    CHECK_FALSE(throw_site(&failure).known);
  }
}

TEST_CASE("throw site: each thread has its own, and an exception from another thread is unknown") {
  if (skipped()) return;
  std::exception_ptr carried;
  std::thread([&] {
    try {
      student::beyond_end({});
    } catch (...) {
      carried = std::current_exception();
    }
  }).join();
  CHECK_FALSE(find_site([&] { std::rethrow_exception(carried); }).known);
}

TEST_CASE("throw site: a student file is one in a folder named student, other than a home folder") {
  CHECK(student_file("/home/course/a9/student/allreduce/ring.cpp", "/home/course") == "student/allreduce/ring.cpp");
  CHECK(student_file("/tmp/lab-run/student/ring.cpp", "/home/course") == "student/ring.cpp");
  CHECK(student_file("student/ring.cpp", "/home/course") == "student/ring.cpp");
  CHECK(student_file("/home/student/labs/a9/student/ring.cpp", "/home/student/labs") == "student/ring.cpp");
  CHECK(student_file("/home/student/labs/common/comm/message.cpp", "/home/student/labs").empty());
  CHECK(student_file("/usr/include/ATen/core/TensorBody.h", "/home/course").empty());
}

TEST_CASE("guarded main: an exception from student code is exit code 7, not an internal error") {
  if (skipped()) return;
  std::string name = "a5_pipeline";
  char* argv[] = {name.data(), nullptr};
  int exit_code = -1;
  const std::string err = lab::testing::captured(2, [&] {
    exit_code = lab::cli::guarded_main(1, argv, [](int, char**) -> lab::ExitCode {
      student::call(fail_elsewhere);
      return lab::ExitCode::kAllMatch;
    });
  });
  CHECK(exit_code == 7);
  CHECK(err == "a5_pipeline: error: " + student_line(student::kCallLine) + ": not the student's own\n");
}

TEST_CASE("failure: an exception from student code is reported with its line, if known") {
  try {
    student::beyond_end({});
  } catch (const std::exception& failure) {
    const std::string text = lab::student_message(&failure);
    const std::string line = skipped() ? "" : student_line(student::kBeyondEndLine) + ": ";
    CHECK_MESSAGE(text.substr(0, line.size()) == line, text);
    CHECK(text.find("range_check") != std::string::npos);
  }
  try {
    student::throw_number();
  } catch (...) {
    const std::string text = lab::student_message(nullptr);
    CHECK_MESSAGE(text.find("something that is not an exception was thrown") != std::string::npos, text);
  }
}
