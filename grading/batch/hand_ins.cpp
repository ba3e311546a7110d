#include "grading/batch/hand_ins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "grading/batch/download_name.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& name, const char* ending) {
  const std::string text = folded(name), end = ending;
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_archive(const std::string& name) {
  constexpr std::array kEndings = {".zip", ".tar", ".gz",   ".tgz", ".bz2", ".tbz", ".tbz2", ".xz",
                                   ".txz", ".zst", ".tzst", ".7z",  ".rar", ".lz",  ".lz4"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return ends_with(name, ending); });
}

bool is_answers(const std::string& name) {
  return ends_with(name, ".md");
}

bool is_code(const std::string& name) {
  return ends_with(name, ".cpp") || ends_with(name, ".h");
}

/// The file that says in Gradescope's export of submissions whose each folder is.
constexpr char kGradescopeMetadata[] = "submission_metadata.yml";

/// Who handed in each of the export's folders ("submission_98765"): several where they worked as a group.
/// Errors    UsageError: not such YAML; `path` names the file in the message
std::map<std::string, std::vector<Student>> parse_gradescope_metadata(const std::string& yaml,
                                                                      const std::string& path) {
  std::map<std::string, std::vector<Student>> folders;
  try {
    for (const auto& submission : YAML::Load(yaml)) {
      std::vector<Student>& students = folders[submission.first.as<std::string>()];
      for (const YAML::Node& submitter : submission.second[":submitters"]) {
        const auto text = [&](const char* key) {
          const YAML::Node value = submitter[key];
          return value && value.IsScalar() ? value.Scalar() : std::string();
        };
        students.push_back({text(":sid"), text(":name"), text(":email"), Student::IdOf::kUniversity});
      }
    }
  } catch (const YAML::Exception& failure) {
    throw UsageError(
        fmt::format("{}: expected the metadata of a Gradescope export: {}", path, one_line(failure.what())));
  }
  return folders;
}

class Finder {
 public:
  explicit Finder(const DownloadFolder& folder) : in_(folder), root_(folder.path) {
    std::error_code none;
    if (const fs::path results = fs::canonical(in_.results, none); !none) results_ = results.string() + "/";
  }

  HandIns find() {
    root_ = download_in(root_);
    const fs::path metadata = root_ / kGradescopeMetadata;
    if (fs::is_regular_file(metadata))
      gradescope_ = parse_gradescope_metadata(read_file(metadata.string()), metadata.string());
    for (const fs::directory_entry& entry : list_entries(root_)) add(entry);
    if (all_.found.empty())
      throw UsageError(fmt::format("{}: expected submissions in it: archives, folders or answers (.md), found {}",
                                   in_.path, all_.notes.empty() ? "nothing" : all_.notes.front()));
    return std::move(all_);
  }

 private:
  /// Without hidden files, what macOS adds, and earlier results.
  std::vector<fs::directory_entry> list_entries(const fs::path& folder) const {
    std::vector<fs::directory_entry> entries;
    std::error_code failure, ignored;
    for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
      const std::string name = at->path().filename().string();
      if (name.front() == '.' || name == "__MACOSX") continue;
      const std::string whole = fs::canonical(at->path(), ignored).string();
      if (!whole.empty() && results_.rfind(whole + "/", 0) == 0) continue;
      entries.push_back(*at);
    }
    if (failure)
      throw UsageError(fmt::format("{}: expected a folder of submissions: {}", folder.string(), failure.message()));
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  static bool is_folder(const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.symlink_status(ignored).type() == fs::file_type::directory;
  }

  /// All that a name may mean, by a platform's rules.
  std::vector<DownloadName> list_meanings(const std::string& name) const {
    if (in_.names) {
      const auto found = in_.names->match(name);
      return found ? std::vector<DownloadName>{*found} : std::vector<DownloadName>{};
    }
    if (const auto moodle = moodle_name(name)) return {*moodle};
    return canvas_names(name);
  }

  /// What the name says; everything empty where it says nothing. Where it may be of several students of the roster, it says
  /// nothing that could be one's.
  DownloadName find_meaning(const std::string& name) const {
    std::vector<DownloadName> all = list_meanings(name);
    if (all.empty()) return {};
    std::vector<DownloadName> known;
    if (in_.roster != nullptr && all.size() > 1) {
      std::copy_if(all.begin(), all.end(), std::back_inserter(known),
                   [&](const DownloadName& meaning) { return in_.roster->find(meaning.student).row.has_value(); });
    }
    if (known.empty()) return all.front();
    for (std::size_t i = 1; i < known.size(); ++i) known.front().student.id += " or " + known[i].student.id;
    return known.front();
  }

  bool is_download(const fs::path& folder) const {
    const std::vector<fs::directory_entry> entries = list_entries(folder);
    return std::any_of(entries.begin(), entries.end(), [&](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename().string();
      return name == kGradescopeMetadata || !list_meanings(name).empty();
    });
  }

  /// A folder that a platform's download is in: this one, or one that is alone in it.
  std::optional<fs::path> platforms_download(const fs::path& folder) const {
    if (is_download(folder)) return folder;
    const std::vector<fs::directory_entry> entries = list_entries(folder);
    if (entries.size() != 1 || !is_folder(entries.front())) return std::nullopt;
    return platforms_download(entries.front().path());
  }

  /// The folder itself, or the one folder around everything in it.
  fs::path download_in(const fs::path& folder) const {
    const std::vector<fs::directory_entry> entries = list_entries(folder);
    const bool is_around = entries.size() == 1 && is_folder(entries[0]) && is_download(entries[0].path());
    const bool is_one = !is_around && is_download(folder);
    std::vector<fs::path> downloads;
    std::size_t num_others = 0;
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      if (is_one && (name == kGradescopeMetadata || !list_meanings(name).empty() || is_in_metadata(folder, name)))
        continue;
      if (is_folder(entry)) {
        const auto inner = platforms_download(entry.path());
        inner ? downloads.push_back(*inner) : void(++num_others);
      } else if (is_archive(name)) {
        ++num_others;
      }
    }
    if (downloads.empty()) return folder;
    if (!is_one && num_others == 0 && downloads.size() == 1) return downloads.front();
    std::vector<std::string> names;
    for (const fs::path& download : downloads) names.push_back(shown(download));
    throw UsageError(
        fmt::format("{}: holds more than one download, or one among other hand-ins: {}; expected one: grade "
                    "each by itself, with its own --out",
                    in_.path, fmt::join(names, ", ")));
  }

  static bool is_in_metadata(const fs::path& folder, const std::string& name) {
    return fs::is_regular_file(folder / kGradescopeMetadata) && name.rfind("submission_", 0) == 0;
  }

  /// Names come from students, and are printed.
  std::string shown(const fs::path& path) const {
    constexpr std::size_t kMaxBytes = 300;
    return one_line(safe_text(path.lexically_relative(root_).string(), kMaxBytes));
  }

  void add(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name == kGradescopeMetadata) return;
    const DownloadName meaning = find_meaning(name);
    HandIn hand_in;
    hand_in.path = entry.path().string();
    hand_in.shown = shown(entry.path());
    hand_in.called = meaning.file.empty() ? name : meaning.file;
    hand_in.is_late = meaning.is_late;
    hand_in.version = meaning.version;
    hand_in.anonymous = meaning.anonymous;
    if (!meaning.student.empty()) hand_in.students = {meaning.student};
    if (const auto folder = gradescope_.find(name); folder != gradescope_.end()) hand_in.students = folder->second;
    const bool is_somebodys = !hand_in.students.empty() || !hand_in.anonymous.empty();
    std::error_code ignored;
    if (is_folder(entry)) {
      add_folder(hand_in);
    } else if (entry.symlink_status(ignored).type() != fs::file_type::regular) {
      leave_out(hand_in.shown, "is a link, or not a file");
    } else if (is_archive(name) || is_answers(name) || is_somebodys) {
      hand_in.kind = is_archive(name) ? HandIn::Kind::kArchive : HandIn::Kind::kFile;
      all_.found.push_back(hand_in);
    } else {
      leave_out(hand_in.shown, "is not an archive");
    }
  }

  /// The folder as a tree of files, and the archives and answers in it: which of them holds a lab, their contents show.
  void add_folder(HandIn hand_in) {
    hand_in.folder = hand_in.shown;
    std::vector<fs::path> files;
    const bool is_tree = collect(hand_in.path, 0, files);
    if (!is_tree && files.empty()) files = files_in(hand_in.path);
    if (is_tree || files.empty()) {
      hand_in.kind = HandIn::Kind::kFolder;
      all_.found.push_back(hand_in);
    }
    constexpr std::size_t kMostFiles = 20;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i == kMostFiles) return leave_out(hand_in.shown, "has more archives than are looked at");
      hand_in.path = files[i].string();
      hand_in.shown = shown(files[i]);
      hand_in.called = files[i].filename().string();
      hand_in.kind = is_archive(hand_in.called) ? HandIn::Kind::kArchive : HandIn::Kind::kFile;
      all_.found.push_back(hand_in);
    }
  }

  /// Any of them may be an archive, if only they are there.
  std::vector<fs::path> files_in(const fs::path& folder) const {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const fs::directory_entry& entry : list_entries(folder)) {
      if (entry.symlink_status(ignored).type() == fs::file_type::regular) files.push_back(entry.path());
    }
    return files;
  }

  /// Returns whether there is something of a tree: a folder or code.
  bool collect(const fs::path& folder, int depth, std::vector<fs::path>& files) const {
    constexpr int kDeepest = 2;
    bool is_tree = false;
    for (const fs::directory_entry& entry : list_entries(folder)) {
      const std::string name = entry.path().filename().string();
      std::error_code ignored;
      if (is_folder(entry)) {
        is_tree = true;
        if (depth < kDeepest) collect(entry.path(), depth + 1, files);
      } else if (entry.symlink_status(ignored).type() == fs::file_type::regular) {
        is_tree = is_tree || is_code(name);
        if (is_archive(name) || (depth == 0 && is_answers(name))) files.push_back(entry.path());
      }
    }
    return is_tree;
  }

  void leave_out(const std::string& name, const char* why) {
    all_.notes.push_back(fmt::format("{} {}: left out", name, why));
  }

  const DownloadFolder& in_;
  std::string results_;  ///< the folder of the results, resolved, with a slash at its end
  fs::path root_;
  std::map<std::string, std::vector<Student>> gradescope_;
  HandIns all_;
};

}  // namespace

HandIns find_hand_ins(const DownloadFolder& folder) {
  return Finder(folder).find();
}

}  // namespace lab::grading
