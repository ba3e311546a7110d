#include "grading/submission/lab_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "common/api/errors.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/course/hand_in/hand_in_names.h"
#include "common/course/rubric/rubric_check.h"
#include "grading/submission/file_names.h"

namespace lab::grading {
namespace {

using Files = std::map<std::string, std::string>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool has_below(const Files& files, const std::string& prefix) {
  const auto first = files.lower_bound(prefix);
  return first != files.end() && first->first.rfind(prefix, 0) == 0;
}

/// "hw/" for each folder at the top.
std::set<std::string> top_folders(const Files& files) {
  std::set<std::string> folders;
  for (const auto& [path, bytes] : files) {
    if (const std::size_t slash = path.find('/'); slash != std::string::npos) folders.insert(path.substr(0, slash + 1));
  }
  return folders;
}

std::vector<std::string> list_folders(const std::vector<KnownLab>& labs) {
  std::vector<std::string> folders;
  for (const KnownLab& lab : labs) folders.push_back(lab.rubric.lab);
  return folders;
}

std::vector<LabPlace> labs_below(const std::string& prefix, const Files& files,
                                 const std::vector<const KnownLab*>& wanted) {
  std::vector<LabPlace> found;
  for (const KnownLab* lab : wanted) {
    if (const std::string folder = prefix + lab->rubric.lab + "/"; has_below(files, folder))
      found.push_back({lab, folder});
  }
  return found;
}

/// Whether something of the lab's hand-in is here, judged by names only.
bool looks_like(const KnownLab& lab, const Files& files, const std::string& prefix) {
  if (has_below(files, prefix + "student/")) return true;
  const HandInNames names = hand_in_names(lab.rubric, lab.student_files);
  std::set<std::string> known(names.answers.begin(), names.answers.end());
  known.insert(names.also.begin(), names.also.end());
  for (const std::string& source : names.sources) known.insert(std::filesystem::path(source).filename().string());
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& name) { return files.count(prefix + name) != 0; });
}

/// "a9" for "A9.tar.gz"; labs' own names have their case.
std::optional<std::size_t> lab_by_stem(const std::string& name, const std::vector<std::string>& folders) {
  const std::string stem = lower(name.substr(0, name.find('.')));
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (stem == lower(folders[i]) || stem == lower(shorten_name(folders[i]))) return i;
  }
  return std::nullopt;
}

/// A lab's content without a folder of the lab's name: at the top, or in the one folder there.
std::optional<LabPlace> bare_lab(const SubmissionLabel& label, const Files& files,
                                 const std::vector<const KnownLab*>& wanted, const std::vector<KnownLab>& labs) {
  const std::set<std::string> folders = top_folders(files);
  std::vector<std::string> prefixes = {""};
  if (folders.size() == 1) prefixes.push_back(*folders.begin());
  for (const std::string& prefix : prefixes) {
    const std::string name = prefix.empty() ? label.called : prefix.substr(0, prefix.size() - 1);
    const std::optional<std::size_t> named = lab_by_stem(name, list_folders(labs));
    for (const KnownLab* lab : wanted) {
      // A folder named after a lab belongs to that lab; the caller decides about any other.
      const bool is_said = named ? lab == &labs[*named] : !label.only_lab.empty();
      if (is_said && looks_like(*lab, files, prefix)) return LabPlace{lab, prefix};
    }
  }
  return std::nullopt;
}

std::vector<std::string> list_names(const std::vector<const KnownLab*>& labs) {
  std::vector<std::string> names;
  for (const KnownLab* lab : labs) names.push_back(lab->rubric.lab);
  return names;
}

/// What is at the top, with the lab that a misspelt folder may mean.
std::string said_of_top(const Files& files, const std::vector<const KnownLab*>& wanted) {
  std::set<std::string> top;
  for (const auto& [path, bytes] : files) top.insert(path.substr(0, path.find('/')));
  if (top.empty()) return "nothing";
  for (const std::string& name : top) {
    if (const auto meant = meant_file(name, list_names(wanted)))
      return fmt::format("{} (is it '{}'?)", name_list({name}), *meant);
  }
  return name_list({top.begin(), top.end()});
}

}  // namespace

const KnownLab& lab_named(const std::string& name, const std::vector<KnownLab>& labs) {
  return labs[lab::lab_named(name, list_folders(labs))];
}

std::vector<LabPlace> find_labs(const SubmissionLabel& label, const Files& files, const std::vector<KnownLab>& labs) {
  std::vector<const KnownLab*> wanted;
  if (label.only_lab.empty()) {
    for (const KnownLab& lab : labs) wanted.push_back(&lab);
  } else {
    wanted.push_back(&lab_named(label.only_lab, labs));
  }
  std::vector<LabPlace> found = labs_below("", files, wanted);
  if (!found.empty()) return found;

  std::vector<std::string> folders_with_labs;
  for (const std::string& folder : top_folders(files)) {
    std::vector<LabPlace> below = labs_below(folder, files, wanted);
    if (below.empty()) continue;
    folders_with_labs.push_back(folder);
    found = std::move(below);
  }
  if (folders_with_labs.size() > 1) {
    throw UsageError(fmt::format("{}: holds more than one submission, in {}; expected one: grade each by itself",
                                 label.path, name_list(folders_with_labs)));
  }
  if (!found.empty()) return found;
  if (const auto bare = bare_lab(label, files, wanted, labs)) return {*bare};
  const std::string message =
      fmt::format("{}: no lab is in it; expected a folder {} at the top or in one folder around it, got {}{}",
                  label.path, fmt::join(list_names(wanted), ", "), said_of_top(files, wanted),
                  label.only_lab.empty() ? "; where a lab's own files stand at the top, name it with --lab" : "");
  if (label.only_lab.empty()) throw UsageError(message);
  throw UnreadableSubmission(message);
}

const KnownLab* lab_called(const std::string& name, const std::vector<KnownLab>& labs) {
  const std::optional<std::size_t> found = lab_by_stem(name, list_folders(labs));
  return found ? &labs[*found] : nullptr;
}

}  // namespace lab::grading
