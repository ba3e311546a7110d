#include "common/base/failure.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"
#include "common/base/stack/throw_site.h"
#include "common/base/text.h"

namespace lab {
namespace {

/// LibTorch's backtraces begin with the former, or with the latter after an out-of-memory error.
std::string without_backtrace(std::string_view text) {
  return one_line(text.substr(0, std::min(text.find("Exception raised from "), text.find("frame #0: "))));
}

/// What the machine has refused, if the exception says that it did.
std::optional<std::string> machine_limit(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return with_memory_limit("out of memory");
  const std::string text = without_backtrace(failure.what());
  for (const char* allocator : {"DefaultCPUAllocator: ", "CUDA out of memory"}) {  // LibTorch's
    const std::size_t found = text.find(allocator);
    if (found != std::string::npos) return with_memory_limit(text.substr(found));
  }
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&failure) != nullptr) return text;
  const auto* error = dynamic_cast<const std::system_error*>(&failure);
  if (error == nullptr || !is_machine_limit(error->code().value())) return std::nullopt;
  // "cannot write to file: No space left on device": the errno's text is described further.
  const std::size_t end = text.rfind(std::strerror(error->code().value()));
  return text.substr(0, end) + describe_error(error->code().value());
}

}  // namespace

int choose_exit_code(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return static_cast<int>(error->exit_code());
  if (!throw_site(&failure).student_line.empty()) return static_cast<int>(ExitCode::kStudentCode);
  return static_cast<int>(machine_limit(failure) ? ExitCode::kUsage : ExitCode::kInternal);
}

std::string get_message(const std::exception& failure) {
  const std::string message = machine_limit(failure).value_or(without_backtrace(failure.what()));
  return message.empty() ? "no reason given" : message;
}

std::string student_message(const std::exception* failure) {
  // Our own errors already name their location.
  const bool own = dynamic_cast<const Error*>(failure) != nullptr;
  const std::string line = own ? "" : throw_site(failure).student_line;
  const std::string what = failure ? get_message(*failure) : "something that is not an exception was thrown";
  return line.empty() ? what : line + ": " + what;
}

}  // namespace lab
