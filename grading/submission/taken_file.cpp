#include "grading/submission/taken_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>

#include "common/base/numbers.h"
#include "common/base/utf8_text.h"

namespace lab::grading {
namespace {

TakenFile take_text(const std::string& bytes) {
  const std::optional<Utf8Text> text = utf8_text(bytes);
  if (!text) return {"", "is not text; expected UTF-8", ""};
  return {text->text, "", text->was.empty() ? "" : fmt::format("is {}; it was converted to UTF-8", text->was)};
}

}  // namespace

TakenFile take_source(const std::string& bytes) {
  constexpr std::size_t kMaxBytes = 1U << 20;
  if (bytes.empty()) return {"", "is empty", ""};
  if (bytes.size() > kMaxBytes)
    return {"", fmt::format("is {}, expected at most {}", describe_bytes(bytes.size()), describe_bytes(kMaxBytes)), ""};
  return take_text(bytes);
}

TakenFile take_answer(const std::string& name, const std::string& bytes) {
  // A successful run leaves nothing on stderr.
  if (bytes.empty() && std::filesystem::path(name).extension() != ".err") return {"", "is empty", ""};
  return is_text_by_name(name) ? take_text(bytes) : TakenFile{bytes, "", ""};
}

bool is_markdown(const std::string& name) {
  const std::string ending = std::filesystem::path(name).extension().string();
  return ending == ".md" || ending == ".MD" || ending == ".Md";
}

}  // namespace lab::grading
