#include "grading/batch/person_name.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/base/text.h"

namespace lab::grading {
namespace {

/// Letters, digits, and marks that no composed letter has.
bool is_of_word(utf8proc_int32_t letter) {
  const utf8proc_category_t category = utf8proc_category(letter);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

std::vector<std::string> words_of(std::string_view name) {
  std::string spaced = folded(name);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<std::string> words;
  for (const std::string_view word : split(spaced, ' ')) {
    if (std::string letters = letters_of(word); !letters.empty()) words.push_back(std::move(letters));
  }
  std::sort(words.begin(), words.end());
  return words;
}

/// Whether the words are `whole` when they are written together in some order.
bool make_up(std::vector<std::string> words, const std::string& whole) {
  constexpr std::size_t kMostWords = 6;
  if (words.size() > kMostWords) return false;
  do {
    std::string joined;
    for (const std::string& word : words) joined += word;
    if (joined == whole) return true;
  } while (std::next_permutation(words.begin(), words.end()));
  return false;
}

}  // namespace

std::string folded(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  constexpr auto kHow = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                       UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, kHow);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> freed(mapped, std::free);
  if (size < 0) return one_line(text);  // not UTF-8
  return one_line({reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)});
}

std::string letters_of(std::string_view text) {
  const std::string all = folded(text);
  std::string letters;
  for (std::size_t at = 0; at < all.size();) {
    utf8proc_int32_t letter = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(all.data() + at),
                                                   static_cast<utf8proc_ssize_t>(all.size() - at), &letter);
    if (size <= 0) return all;  // not UTF-8
    if (is_of_word(letter)) letters.append(all, at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
  }
  return letters;
}

bool is_same_name(std::string_view a, std::string_view b) {
  const std::vector<std::string> words_a = words_of(a), words_b = words_of(b);
  if (words_a.empty() || words_b.empty()) return false;
  return words_a == words_b || (words_b.size() == 1 && make_up(words_a, words_b[0])) ||
         (words_a.size() == 1 && make_up(words_b, words_a[0]));
}

}  // namespace lab::grading
