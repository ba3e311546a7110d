#include "grading/submission/file_fault.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>

#include "common/report/byte_count.h"
#include "common/report/utf8.h"

namespace lab::grading {
namespace {

std::string fault_of_text(const std::string& bytes) {
  if (const std::size_t at = bytes.find('\0'); at != std::string::npos)
    return fmt::format("is no text: byte {} is 0; expected UTF-8", at);
  return is_utf8(bytes) ? "" : "is no text: it is not UTF-8";
}

bool is_text_by_name(const std::string& name) {
  const std::string extension = std::filesystem::path(name).extension().string();
  for (const char* text : {".md", ".txt", ".log", ".err"}) {
    if (extension == text) return true;
  }
  return false;
}

}  // namespace

std::string fault_of_source(const std::string& bytes) {
  constexpr std::size_t kMaxBytes = 1U << 20;
  if (bytes.empty()) return "is empty";
  if (bytes.size() > kMaxBytes)
    return fmt::format("is {}, expected at most {}", describe_bytes(bytes.size()), describe_bytes(kMaxBytes));
  return fault_of_text(bytes);
}

std::string fault_of_answer(const std::string& name, const std::string& bytes) {
  if (bytes.empty()) return "is empty";
  return is_text_by_name(name) ? fault_of_text(bytes) : "";
}

}  // namespace lab::grading
