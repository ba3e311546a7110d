#include "common/base/failure.h"

#include <algorithm>
#include <new>
#include <string_view>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/base/throw_site.h"

namespace lab {

int exit_code_of(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return static_cast<int>(error->exit_code());
  const bool of_student = !throw_site(&failure).student_line.empty();
  return static_cast<int>(of_student ? ExitCode::kStudentCode : ExitCode::kInternal);
}

std::string message_of(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure)) return "out of memory";
  const std::string_view text = failure.what();
  // LibTorch's backtraces begin with the former, or with the latter after an out-of-memory error.
  const std::size_t end = std::min(text.find("Exception raised from "), text.find("frame #0: "));
  const std::string message = one_line(text.substr(0, end));
  return message.empty() ? "no reason given" : message;
}

std::string student_message(const std::exception* failure) {
  // Our own errors already name their location.
  const bool own = dynamic_cast<const Error*>(failure) != nullptr;
  const std::string line = own ? "" : throw_site(failure).student_line;
  const std::string what = failure ? message_of(*failure) : "something that is not an exception was thrown";
  return line.empty() ? what : line + ": " + what;
}

}  // namespace lab
