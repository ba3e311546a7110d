#include "grading/submission/results_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/files.h"
#include "common/course/rubric/content_hash.h"
#include "grading/submission/lab_places.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

std::string checksum_text(const std::string& text) {
  return content_hash(text).substr(0, 32);
}

/// A name for a folder. A checksum tells apart names that would become the same.
std::string folder_name(const std::string& text) {
  constexpr std::size_t kMaxBytes = 60;
  std::string name = text.substr(0, kMaxBytes);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '_';
  }
  if (name.front() == '.') name.front() = '_';
  return name == text ? name : name + "-" + checksum_text(text);
}

std::string handed_in_name(const fs::path& path) {
  const std::string name = path.filename().string();
  if (fs::is_directory(path)) return name;
  const std::size_t tar = name.rfind(".tar.");
  return tar != std::string::npos && tar > 0 ? name.substr(0, tar) : path.stem().string();
}

/// Whether the name is one that `lab submit` or any student may give to a hand-in.
bool is_everybodys(const std::string& stem, const std::vector<KnownLab>& labs) {
  return stem == "submission" || lab_called(stem, labs) != nullptr ||
         std::any_of(labs.begin(), labs.end(), [&](const KnownLab& lab) {
           const std::vector<std::string>& answers = lab.rubric.hand_in.answers;
           return std::any_of(answers.begin(), answers.end(),
                              [&](const std::string& answer) { return fs::path(answer).stem() == stem; });
         });
}

std::string name_by_path(const std::string& submission, const std::vector<KnownLab>& labs) {
  fs::path path = fs::absolute(submission).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string own = handed_in_name(path);
  while (is_everybodys(handed_in_name(path), labs) && path.parent_path().has_filename()) path = path.parent_path();
  const std::string found = handed_in_name(path);
  return is_everybodys(found, labs) || found.empty() ? own : found;
}

/// The file that says whose results a folder holds. Without an identity, only the submission's name tells.
std::string owner_text(const Identity& identity) {
  return identity.empty() ? "# no identity was handed in\n" : to_toml(identity);
}

constexpr char kSubmissionLine[] = "# from ";

}  // namespace

std::string results_name(const std::string& submission, const Identity& identity, const std::vector<KnownLab>& labs) {
  return folder_name(!identity.id.empty()     ? identity.id
                     : !identity.name.empty() ? identity.name
                                              : name_by_path(submission, labs));
}

std::string results_folder(const std::string& base, const std::string& submission, const Identity& identity,
                           const std::vector<KnownLab>& labs) {
  const std::string folder = base + "/" + results_name(submission, identity, labs);
  const std::string owner = folder + "/" + kIdentityInHandIn;
  if (!fs::exists(owner)) return folder;
  const std::string expected = owner_text(identity) + kSubmissionLine;
  const bool same = read_file(owner).compare(0, expected.size(), expected) == 0;
  return same ? folder : folder + "-" + checksum_text(owner_text(identity));
}

void keep_owner(const std::string& folder, const std::string& submission, const Identity& identity) {
  make_folder("--out", folder);
  write_file_atomically(folder + "/" + kIdentityInHandIn, owner_text(identity) + kSubmissionLine + submission + "\n");
}

}  // namespace lab::grading
