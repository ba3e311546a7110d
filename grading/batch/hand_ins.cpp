#include "grading/batch/hand_ins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "grading/batch/gradescope_export.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_archive(const std::string& name) {
  constexpr std::array kEndings = {".zip", ".tar", ".tar.gz", ".tgz"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return ends_with(name, ending); });
}

bool is_answers(const std::string& name) {
  return ends_with(name, ".md");
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    entries.push_back(*at);
  if (failure)
    throw UsageError(fmt::format("{}: expected a folder of submissions: {}", folder.string(), failure.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

class Finder {
 public:
  Finder(fs::path root, const std::optional<NamePattern>& names) : root_(std::move(root)), names_(names) {
    const fs::path metadata = root_ / kGradescopeMetadata;
    if (fs::is_regular_file(metadata))
      gradescope_ = parse_gradescope_metadata(read_file(metadata.string()), metadata.string());
  }

  HandIns find() {
    for (const fs::directory_entry& entry : entries_of(root_)) add(entry);
    if (all_.found.empty())
      throw UsageError(fmt::format("{}: expected submissions in it: archives, folders or answers (.md), found {}",
                                   root_.string(), all_.notes.empty() ? "nothing" : all_.notes.front()));
    return std::move(all_);
  }

 private:
  /// What the name says; everything empty where it says nothing.
  DownloadName said_by(const std::string& name) const {
    if (names_) {
      if (const auto found = names_->match(name)) return *found;
      return {};
    }
    if (const auto moodle = moodle_name(name)) return *moodle;
    if (const auto canvas = canvas_name(name)) return *canvas;
    return {};
  }

  /// Names come from students, and are printed.
  std::string shown(const fs::path& path) const {
    constexpr std::size_t kMaxBytes = 300;
    return one_line(safe_text(path.lexically_relative(root_).string(), kMaxBytes));
  }

  void add_hand_in(const fs::path& path, const DownloadName& said, const GradescopeFolder& by) {
    HandIn one = {path.string(), shown(path), said.file, by.students, said.is_late, said.version};
    if (one.called.empty()) one.called = path.filename().string();
    all_.found.push_back(one);
  }

  void add(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' || name == "__MACOSX" || name == kGradescopeMetadata) return;
    const DownloadName said = said_by(name);
    GradescopeFolder by;
    if (!said.student.empty()) by.students = {said.student};
    if (const auto folder = gradescope_.find(name); folder != gradescope_.end()) by = folder->second;
    std::error_code ignored;
    const fs::file_type type = entry.symlink_status(ignored).type();
    if (type == fs::file_type::directory) {
      add_folder(entry.path(), said, by);
    } else if (type != fs::file_type::regular) {
      leave_out(name, "is a link, or no file");
    } else if (is_archive(name) || is_answers(name) || !said.student.empty()) {
      add_hand_in(entry.path(), said, by);  // whatever a student handed in is graded, and perhaps refused
    } else {
      leave_out(name, "is not an archive");
    }
  }

  /// Its archives and answers, if that is all that there is to grade; else the folder.
  void add_folder(const fs::path& folder, const DownloadName& said, const GradescopeFolder& by) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : entries_of(folder)) {
      const std::string name = entry.path().filename().string();
      std::error_code ignored;
      const fs::file_type type = entry.symlink_status(ignored).type();
      const bool is_of_tree = type == fs::file_type::directory ? name.front() != '.' && name != "__MACOSX"
                                                               : entry.path().extension() == ".cpp";
      if (is_of_tree) return add_hand_in(folder, said, by);
      if (type == fs::file_type::regular && (is_archive(name) || is_answers(name))) files.push_back(entry.path());
    }
    if (files.empty()) return add_hand_in(folder, said, by);
    for (const fs::path& file : files) add_hand_in(file, {}, by);
  }

  void leave_out(const std::string& name, const char* why) {
    all_.notes.push_back(fmt::format("{} {}: left out", one_line(safe_text(name, 100)), why));
  }

  const fs::path root_;
  const std::optional<NamePattern>& names_;
  std::map<std::string, GradescopeFolder> gradescope_;
  HandIns all_;
};

}  // namespace

HandIns find_hand_ins(const std::string& folder, const std::optional<NamePattern>& names) {
  return Finder(folder, names).find();
}

}  // namespace lab::grading
