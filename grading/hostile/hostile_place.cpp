#include "grading/hostile/hostile_place.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/base/random_token.h"
#include "common/base/text.h"
#include "common/comm/rendezvous/socket.h"
#include "grading/hostile/hostile_archives.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

void write_in_place(const fs::path& path, const std::string& text) {
  make_folder("a folder for a hostile hand-in", path.parent_path().string());
  write_file_atomically(path.string(), text);
}

/// What is there, to be compared: a file's bytes, or what else it is.
std::string shown(const fs::directory_entry& entry) {
  if (entry.is_symlink()) return "a link to " + fs::read_symlink(entry.path()).string();
  if (entry.is_directory()) return "a folder";
  return entry.is_regular_file() ? "a file: " + read_file(entry.path().string()) : "neither a file nor a folder";
}

}  // namespace

HostilePlace::HostilePlace(std::string folder, std::string source, std::string build)
    : folder_(std::move(folder)),
      source_(std::move(source)),
      build_(std::move(build)),
      mark_("mark_" + random_token()),
      secret_("secret_" + random_token()) {
  for (const std::string& own : {home(), temporary(), working_folder(), results()})
    make_folder("a folder for a hostile hand-in", own);
  write_in_place(home() + "/secret.txt", secret_ + "\n");
  write_in_place(neighbour() + "/a9_collectives/student/broadcast/flat.cpp", "// " + secret_ + "\n");
  comm::RendezvousPlace address;
  address.host = "127.0.0.1";
  listener_ = std::move(comm::listen_at(address, std::chrono::steady_clock::now() + std::chrono::seconds(10)).at(0));
  port_ = address.port;
}

std::string HostilePlace::hand_in(const HostileEntry& entry, const std::string& lab_folder, const std::string& corpus) {
  const std::string path = folder_ + "/hand_ins/alice" + (entry.archive.empty() ? "" : ".zip");
  if (entry.archive.empty()) {
    const fs::path own = corpus + "/" + entry.name;
    for (const auto& file : fs::recursive_directory_iterator(own)) {
      if (!file.is_regular_file()) continue;
      const fs::path to = fs::path(path) / lab_folder / file.path().lexically_relative(own);
      write_in_place(to, filled_in(read_file(file.path().string()), corpus));
    }
  } else {
    write_hostile_archive(entry.archive, path, *this);
  }
  before_ = contents();
  return path;
}

std::string HostilePlace::filled_in(const std::string& text, const std::string& corpus) const {
  std::string filled = text;
  if (filled.find("@SYSTEM_CALL@") != std::string::npos)
    replace_all(filled, "@SYSTEM_CALL@", read_file(corpus + "/system_call.inc"));
  const std::array<std::pair<const char*, std::string>, 5> names = {{{"@SOURCE@", source_},
                                                                     {"@BUILD@", build_},
                                                                     {"@HOME@", home()},
                                                                     {"@NEIGHBOUR@", neighbour()},
                                                                     {"@PORT@", std::to_string(port_)}}};
  for (const auto& [name, by] : names) replace_all(filled, name, by);
  return filled;
}

bool HostilePlace::is_told_by(const std::string& text) const {
  return text.find(mark_) != std::string::npos || text.find(secret_) != std::string::npos;
}

std::vector<std::string> HostilePlace::damage() const {
  std::vector<std::string> lines;
  const std::map<std::string, std::string> now = contents();
  for (const auto& [path, what] : before_) {
    const auto found = now.find(path);
    if (found == now.end()) lines.push_back(path + " is gone");
    if (found != now.end() && found->second != what) lines.push_back(path + " was changed");
  }
  for (const auto& [path, what] : now) {
    if (before_.count(path) == 0) lines.push_back(path + " is new");
  }
  if (comm::wait_for(listener_.get(), POLLIN, std::chrono::steady_clock::now()))
    lines.push_back(fmt::format("port {} was connected to", port_));
  return lines;
}

std::map<std::string, std::string> HostilePlace::contents() const {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string path = entry.path().lexically_relative(folder_).string();
    if (path.compare(0, 8, "results/") != 0) found[path] = shown(entry);
  }
  return found;
}

}  // namespace lab::grading
