#include "grading/submission/submission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/utf8_text.h"
#include "common/course/hand_in/archive.h"
#include "common/course/starter/answer_template.h"
#include "grading/submission/file_names.h"
#include "grading/submission/lab_places.h"
#include "grading/submission/submitted_lab.h"

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

namespace {

/// A single file of answers, as if it were alone in its lab's folder.
FileTree single_file(const SubmissionFile& file) {
  const std::string& path = file.path;
  constexpr std::uintmax_t kMaxBytes = ArchiveLimits{}.max_file_bytes;
  std::error_code error;
  if (const std::uintmax_t bytes = std::filesystem::file_size(path, error); !error && bytes > kMaxBytes)
    throw UnreadableSubmission(fmt::format("{}: is {} bytes, expected at most {}", path, bytes, kMaxBytes));
  return {{{file.called, read_file(path)}}, {}};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

bool is_single_file(const std::string& path) {
  return is_markdown(path) && !is_folder(path);
}

FileTree read_tree(const SubmissionFile& file) {
  const std::string& path = file.path;
  if (is_folder(path)) return read_folder(path);
  if (is_single_file(path)) return single_file(file);
  try {
    return read_archive(path);
  } catch (const UsageError& error) {
    if (::access(path.c_str(), R_OK) != 0) throw;  // not the student's fault
    throw UnreadableSubmission(error.what());
  }
}

/// Takes the identity out of the files: from next to the labs, or from a lab's folder.
Identity take_identity(const std::string& path, const std::vector<LabPlace>& places, Submission& submission,
                       FileTree& tree) {
  std::vector<std::string> candidates = {kIdentityInHandIn};
  for (const LabPlace& place : places) {
    const std::string& prefix = place.prefix;
    if (const std::size_t slash = prefix.find('/'); slash != std::string::npos)
      candidates.push_back(prefix.substr(0, slash + 1) + kIdentityInHandIn);
    candidates.push_back(prefix + kIdentityInHandIn);
  }
  std::optional<std::string> toml;
  for (const std::string& name : candidates) {
    const auto file = tree.files.find(name);
    if (file == tree.files.end()) continue;
    if (!toml) toml = file->second;
    tree.files.erase(file);
  }
  try {
    if (toml) return parse_identity(*toml, kIdentityInHandIn);
    if (is_folder(path)) return load_identity(path);  // a student's whole tree
  } catch (const UsageError& error) {
    submission.notes.push_back(fmt::format("the identity is not used: {}", error.what()));
  }
  return {};
}

/// The lab whose hand-in has an answer of this name; empty if there is none.
std::string lab_of_answer(const std::string& name, const std::vector<KnownLab>& labs) {
  for (const KnownLab& lab : labs) {
    const std::vector<std::string>& answers = lab.rubric.hand_in.answers;
    if (std::find(answers.begin(), answers.end(), name) != answers.end()) return lab.rubric.lab;
  }
  return "";
}

/// A single markdown file with another name is taken as the lab's only one. Returns whether it was.
bool rename_answers(const KnownLab& lab, FileTree& tree) {
  const std::string name = tree.files.begin()->first;
  std::vector<std::string> asked;
  for (const std::string& answer : lab.rubric.hand_in.answers) {
    if (is_markdown(answer)) asked.push_back(answer);
  }
  if (asked.size() != 1 || asked[0] == name) return false;
  tree.notes.push_back(fmt::format("{} is taken for '{}'", name_list({name}), asked[0]));
  tree.files = {{asked[0], std::move(tree.files.begin()->second)}};
  return true;
}

std::map<std::string, std::string> files_below(const std::string& prefix, const FileTree& tree) {
  std::map<std::string, std::string> files;
  for (auto it = tree.files.lower_bound(prefix); it != tree.files.end() && it->first.rfind(prefix, 0) == 0; ++it)
    files[it->first.substr(prefix.size())] = it->second;
  return files;
}

/// The identity that an answer was signed with.
Identity signed_identity(const std::string& toml, Submission& submission) {
  try {
    return parse_identity(toml, kIdentityInHandIn);
  } catch (const UsageError& error) {
    submission.notes.push_back(fmt::format("the identity is not used: {}", error.what()));
    return {};
  }
}

/// Names of other files and folders next to the labs; further labs that were not asked for are not listed.
std::vector<std::string> unused_entries(const std::vector<LabPlace>& places, const FileTree& tree,
                                        const std::vector<KnownLab>& labs) {
  const std::string lab_folder = places.front().lab->rubric.lab + "/";
  const std::string& first = places.front().prefix;
  const bool is_bare = first.size() < lab_folder.size() || first.substr(first.size() - lab_folder.size()) != lab_folder;
  const std::string around = is_bare ? first : first.substr(0, first.size() - lab_folder.size());
  std::set<std::string> names;
  for (const auto& [path, bytes] : tree.files) {
    if (path.rfind(around, 0) != 0) {
      names.insert(path.substr(0, path.find('/')));
    } else if (!is_bare) {
      names.insert(path.substr(0, path.find('/', around.size())));
    }
  }
  for (const KnownLab& lab : labs) names.erase(around + lab.rubric.lab);
  return {names.begin(), names.end()};
}

/// A lab's folder without any of its files says nothing about what was meant to be handed in.
void drop_empty_labs(const std::string& path, Submission& submission) {
  std::string why;
  for (const SubmittedLab& lab : submission.labs) {
    if (!lab.sources.empty() || !lab.answers.empty()) continue;
    why = fmt::format("holds none of the files of {}: {}", lab.lab, fmt::join(lab.notes, "; "));
    submission.notes.push_back(why);
  }
  std::vector<SubmittedLab>& labs = submission.labs;
  labs.erase(std::remove_if(labs.begin(), labs.end(),
                            [](const SubmittedLab& lab) { return lab.sources.empty() && lab.answers.empty(); }),
             labs.end());
  if (labs.empty()) throw UnreadableSubmission(path + ": " + why);
}

/// A markdown that is not called as the lab's answers is one of them only if the lab's code is in it.
void require_code(const SubmissionFile& file, const Submission& submission) {
  if (submission.labs.front().sources.empty())
    throw UnreadableSubmission(
        fmt::format("{}: holds no code of {} in blocks that name their files", file.path, submission.labs.front().lab));
}

}  // namespace

KnownLab known_lab(const Rubric& rubric, const std::string& lab_folder) {
  KnownLab lab = {rubric, {}, {}, {}};
  std::error_code problem;
  std::filesystem::recursive_directory_iterator entries(lab_folder, problem);
  if (problem) throw UsageError(fmt::format("{}: cannot be read: {}", lab_folder, problem.message()));
  for (const auto& entry : entries) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(lab_folder).generic_string();
    if (name.rfind("student/", 0) == 0) {
      lab.student_files.push_back(name);
    } else {
      lab.other_files.insert(name);
    }
  }
  for (const std::string& answer : rubric.hand_in.answers) {
    const std::string form = lab_folder + "/" + find_template(answer);
    if (std::filesystem::exists(form)) lab.templates[answer] = read_file(form);
  }
  if (lab.student_files.empty())
    throw UsageError(fmt::format("{}: expected files in student/, found none", lab_folder));
  std::sort(lab.student_files.begin(), lab.student_files.end());
  return lab;
}

SubmissionFile::SubmissionFile(std::string where, std::string called_by_its_author)
    : path(std::move(where)), called(std::move(called_by_its_author)) {
  if (!called.empty()) return;
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  called = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

Submission read_submission(const SubmissionFile& file, const std::vector<KnownLab>& labs, const std::string& only_lab) {
  const std::string& path = file.path;
  FileTree tree = read_tree(file);
  SubmissionLabel label = {path, file.called, only_lab};
  bool is_renamed = false;
  if (is_single_file(path)) {
    if (only_lab.empty()) {
      label.only_lab = lab_of_answer(tree.files.begin()->first, labs);
    } else {
      is_renamed = rename_answers(lab_named(only_lab, labs), tree);
    }
  }
  const std::vector<LabPlace> places = find_labs(label, tree.files, labs);

  Submission submission;
  submission.notes = std::move(tree.notes);
  submission.identity = take_identity(path, places, submission, tree);
  for (const LabPlace& place : places) {
    submission.labs.push_back(take_lab(*place.lab, files_below(place.prefix, tree)));
    if (const auto& toml = submission.labs.back().identity; toml && submission.identity.empty())
      submission.identity = signed_identity(*toml, submission);
  }
  drop_empty_labs(path, submission);
  if (is_renamed) require_code(file, submission);
  const std::string& prefix = places.front().prefix;
  if (const std::size_t slash = prefix.find('/');
      slash != std::string::npos && prefix.substr(0, slash) != places.front().lab->rubric.lab)
    submission.notes.push_back(
        fmt::format("everything is taken from inside the folder {}", name_list({prefix.substr(0, slash)})));
  if (const std::vector<std::string> others = unused_entries(places, tree, labs); !others.empty())
    submission.notes.push_back(fmt::format("not used, as no lab asks for it: {}", name_list(others)));
  return submission;
}

const KnownLab* lab_meant_by(const SubmissionFile& file, const std::vector<KnownLab>& labs,
                             const std::string& only_lab) {
  return only_lab.empty() ? lab_called(file.called, labs) : &lab_named(only_lab, labs);
}

}  // namespace lab::grading
