#include "grading/hostile/hostile_place.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/api/errors.h"
#include "common/base/random_token.h"
#include "common/base/text.h"
#include "common/comm/rendezvous/socket.h"
#include "common/testing/archive_builder.h"

namespace lab::grading {
namespace {

using testing::ArchiveBuilder;
using Format = ArchiveBuilder::Format;
using WriteArchive = void (*)(const std::string& path, const HostilePlace& place);

constexpr char kLab[] = "a9_collectives/";
constexpr char kFlat[] = "a9_collectives/student/broadcast/flat.cpp";

/// With an answer of the lab, so that something of it is handed in.
void add_answer(ArchiveBuilder& archive) {
  archive.file(std::string(kLab) + "written_answers_task1.md", "Nothing to see here.\n");
}

/// Paths that lead out of the folder into which the archive is unpacked.
void zip_slip(const std::string& path, const HostilePlace& place) {
  ArchiveBuilder archive(path);
  add_answer(archive);
  for (const std::string up : {"../", "../../", "../../../", "a9_collectives/student/../../../"})
    archive.file(up + "escaped.txt", "out").file(up + "home/escaped.txt", "out");
  archive.file("a9_collectives\\..\\..\\escaped.txt", "out").file(place.home() + "/escaped.txt", "out");
}

/// 512 MiB of zeros, which do not say how many they are.
void zip_bomb(const std::string& path, const HostilePlace&) {
  ArchiveBuilder archive(path);
  add_answer(archive);
  archive.zeros(kFlat, 512u << 20);
}

/// Links to the reference, and to a folder into which a file is then written.
void links(const std::string& path, const HostilePlace& place) {
  ArchiveBuilder archive(path, Format::kTarGz);
  add_answer(archive);
  archive.symlink(kFlat, place.source() + "/" + kFlat)
      .hardlink("a9_collectives/student/broadcast/chain.cpp",
                place.source() + "/a9_collectives/student/broadcast/chain.cpp")
      .symlink("a9_collectives/student/allreduce", place.home())
      .file("a9_collectives/student/allreduce/escaped.txt", "out");
}

/// What must not be opened: a pipe that nobody writes to, and /dev/zero.
void devices(const std::string& path, const HostilePlace&) {
  ArchiveBuilder archive(path, Format::kTarGz);
  add_answer(archive);
  archive.fifo(kFlat).device("a9_collectives/student/broadcast/chain.cpp");
}

void ten_thousand_files(const std::string& path, const HostilePlace&) {
  ArchiveBuilder archive(path);
  add_answer(archive);
  for (int i = 0; i < 10000; ++i) archive.file(fmt::format("{}student/broadcast/{}.cpp", kLab, i), "");
}

/// Names that are not UTF-8, that a terminal obeys, that hide what they are, or that are too long.
void strange_names(const std::string& path, const HostilePlace&) {
  ArchiveBuilder archive(path);
  add_answer(archive);
  for (const std::string& name :
       {std::string("latin\xe9.cpp"), std::string("\x1b[2J\x1b]0;owned\x07.cpp"), std::string("line\nbreak.cpp"),
        std::string("txt.\xe2\x80\xae"
                    "ppc.cpp"),
        std::string(300, 'n'), std::string("`rm -rf ~`|<b>.cpp")})
    archive.file(kLab + name, "x");
}

constexpr std::array<std::pair<const char*, WriteArchive>, 6> kArchives = {{{"zip_slip", zip_slip},
                                                                            {"zip_bomb", zip_bomb},
                                                                            {"links", links},
                                                                            {"devices", devices},
                                                                            {"ten_thousand_files", ten_thousand_files},
                                                                            {"strange_names", strange_names}}};

}  // namespace

std::vector<std::string> hostile_archive_names() {
  std::vector<std::string> names;
  for (const auto& [name, write] : kArchives) names.push_back(name);
  return names;
}

void write_hostile_archive(const std::string& name, const std::string& path, const HostilePlace& place) {
  for (const auto& [known, write] : kArchives) {
    if (known == name) return write(path, place);
  }
  throw UsageError(fmt::format("there is no hostile archive {}", name));
}

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

std::string HostilePlace::hand_in(const HostileEntry& entry, const std::string& lab_folder) {
  const std::string path = folder_ + "/hand_ins/alice" + (entry.archive.empty() ? "" : ".zip");
  if (entry.archive.empty()) {
    write_in_place(fs::path(path) / lab_folder / entry.file, filled_in(entry.code));
  } else {
    write_hostile_archive(entry.archive, path, *this);
  }
  before_ = contents();
  return path;
}

std::string HostilePlace::filled_in(const std::string& text) const {
  std::string filled = text;
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
