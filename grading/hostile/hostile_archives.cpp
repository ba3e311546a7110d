#include "grading/hostile/hostile_archives.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/base/errors.h"
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

}  // namespace lab::grading
