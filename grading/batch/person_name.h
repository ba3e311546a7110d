#pragma once

#include <string>
#include <string_view>

// Names and ids of people, as different programs write them.
namespace lab::grading {

/// Text for comparing: composed and decomposed letters are the same, upper and lower case too, and blanks around it are gone.
/// Source    Unicode's NFKC_Casefold; utf8proc, which is used here only
std::string folded(std::string_view text);

/// The folded text's letters and digits: "SIS User ID" and "sis_user_id" are the same.
std::string letters_of(std::string_view text);

/// Whether both may be one person's: "Ada Lovelace", "Lovelace, Ada", and Canvas' "lovelaceada". Never if one is empty.
bool is_same_name(std::string_view a, std::string_view b);

}  // namespace lab::grading
