#include "common/report/failure.h"

#include <new>
#include <string_view>

#include "common/report/errors.h"
#include "common/report/one_line.h"

namespace lab {

int exit_code_of(const std::exception& failure) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  return static_cast<int>(error ? error->exit_code() : ExitCode::kInternal);
}

std::string sentence_of(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure)) return "out of memory";
  const std::string_view text = failure.what();
  const std::string sentence = one_line(text.substr(0, text.find("Exception raised from ")));
  return sentence.empty() ? "no reason given" : sentence;
}

}  // namespace lab
