#include "common/course/starter/answer_template.h"

#include <filesystem>
#include <map>
#include <sstream>

#include "common/course/starter/snippets.h"

namespace lab {

std::string find_template(const std::string& answer) {
  const std::filesystem::path path = answer;
  return (path.parent_path() / (path.stem().string() + ".template" + path.extension().string())).string();
}

bool is_untouched(const std::string& answer, const std::string& its_template) {
  constexpr int kFewWords = 3;
  std::map<std::string, int> left;  // of the template's words, how often each
  int num_given = 0, num_kept = 0, num_new = 0;
  std::istringstream template_words(without_snippets(its_template)), words(without_snippets(answer));
  for (std::string word; template_words >> word; ++num_given) ++left[word];
  for (std::string word; num_new < kFewWords && words >> word;) {
    ++(left[word]-- > 0 ? num_kept : num_new);
  }
  const bool is_blank = num_kept + num_new == 0;
  return num_new < kFewWords && (is_blank || 10 * num_kept >= 9 * num_given);
}

}  // namespace lab
