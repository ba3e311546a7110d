#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

// Names and ids of people, as different programs write them.
namespace lab::grading {

/// Text for comparing: composed and decomposed letters are the same, upper and lower case too, and blanks around it are gone.
/// Source    Unicode's NFKC_Casefold; utf8proc, which is used here only
std::string folded(std::string_view text);

/// The folded text's letters and digits: "SIS User ID" and "sis_user_id" are the same.
std::string keep_letters(std::string_view text);

/// Whether both may be one person's: "Ada Lovelace", "Lovelace, Ada", and Canvas' "lovelaceada". Never if one is empty.
bool is_same_name(std::string_view a, std::string_view b);

}  // namespace lab::grading

// What learning platforms call the files of a bulk download. Nothing here looks at a disk.
namespace lab::grading {

/// A student as a learning platform names one; what it does not say is empty.
struct Student {
  std::string id;    ///< the platform's, or the university's
  std::string name;  ///< "Ada Lovelace"; Canvas writes "lovelaceada"
  std::string email;
  enum class IdOf { kAny, kCanvas, kMoodle, kUniversity } find_id = IdOf::kAny;  ///< whose numbers the id is one of

  bool empty() const { return id.empty() && name.empty() && email.empty(); }
};

/// A file's name in a bulk download, taken apart.
struct DownloadName {
  Student student;
  std::string anonymous;     ///< what stands for a student without a name or an id: "anon_x7Yz2"
  std::string file;          ///< as the student called it: "a9.zip"; empty: the whole folder
  bool is_late = false;      ///< the platform says so
  std::int64_t version = 0;  ///< of one student's files, the largest is the last
};

/// Canvas: "lovelaceada_LATE_4711_98765_a9-1.zip", with the user's id and the upload's; "-1" is Canvas', for the second
/// upload of a file. Group names and file names may have numbers, too, so that a name can be read in several ways: the
/// likeliest first. None: not such a name. An anonymous one is "anon_x7Yz2_98765_a9.zip".
/// Example   "team_1_4711_98765_a9.zip": user 4711, or else user 1
std::vector<DownloadName> canvas_names(const std::string& name);

/// Moodle: "Ada Lovelace_4711_assignsubmission_file_" for a folder, or with the file's name at the end, where it was
/// downloaded without folders. Nothing: no such name.
std::optional<DownloadName> moodle_name(const std::string& name);

/// Names of other platforms: text with {id}, {name}, {file} and {any}, each of which stands for at least one character,
/// and for as few as the rest permits.
/// Example   "{id}-{any}-{file}" and "s1234-2026-a9.zip": id "s1234", file "a9.zip"
class NamePattern {
 public:
  /// Errors    UsageError: an unknown or repeated placeholder; neither {id} nor {name}
  explicit NamePattern(const std::string& text);
  std::optional<DownloadName> match(const std::string& name) const;

 private:
  std::regex expression_;
  std::vector<std::string> placeholders_;  ///< of its groups, in order
};

}  // namespace lab::grading
