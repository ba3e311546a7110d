#include <filesystem>

#include "common/base/files.h"
#include "common/course/hand_in/archive.h"
#include "common/course/hand_in/hand_in.h"
#include "common/course/hand_in/identity.h"

namespace lab {
namespace {

constexpr char kSubmissionFolder[] = "submission";

}  // namespace

std::vector<std::string> write_hand_in(const CourseTree& tree, const Rubric& lab, const HandIn& hand_in) {
  make_folder("submit", tree.root() + "/" + kSubmissionFolder);
  const Identity identity = load_identity(tree.root());
  std::vector<std::string> written;
  if (lab.hand_in.snippets_in.empty()) {
    std::map<std::string, std::string> packed;
    for (const auto& [name, bytes] : hand_in.files) packed[lab.lab + "/" + name] = bytes;
    if (!identity.empty()) packed[kIdentityInHandIn] = to_toml(identity);
    written.push_back(std::string(kSubmissionFolder) + "/" + lab.lab + ".zip");
    write_zip(tree.root() + "/" + written.back(), packed);
    return written;
  }
  for (const auto& [name, bytes] : hand_in.files) {
    written.push_back(std::string(kSubmissionFolder) + "/" + std::filesystem::path(name).filename().string());
    const bool is_signed = name == lab.hand_in.snippets_in && !identity.empty();
    write_file_atomically(tree.root() + "/" + written.back(), is_signed ? with_identity(bytes, identity) : bytes);
  }
  return written;
}

}  // namespace lab
