#include "common/course/hand_in/archive.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/testing/archive_builder.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab {
namespace {

using testing::ArchiveBuilder;
using testing::contains;
using testing::get_message;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

using Format = ArchiveBuilder::Format;
using Files = std::map<std::string, std::string>;

/// The message of reading the archive, without its folder: "x.zip: ..."
std::string archive_refusal(const std::string& path, const ArchiveLimits& limits = {}) {
  const std::string message = get_message([&] { read_archive(path, limits); });
  const std::size_t name = message.find("x.");
  return name == std::string::npos ? message : message.substr(name);
}

TEST_CASE("a zip comes back as it was written, the same bytes for the same files") {
  const TemporaryFolder folder;
  const std::string zip = folder.file("x.zip"), again = folder.file("y.zip");
  const std::string binary("\0\xff\r\n", 4);
  const Files files = {{"a9/student/ring.cpp", std::string(100000, 'x')},
                       {"a9/answers.md", ""},
                       {"a9/picture.png", binary},
                       {"a9/gr\xc3\xbc\xc3\x9f.md", "a name beyond ASCII"}};
  write_zip(zip, files);
  const FileTree tree = read_archive(zip);
  CHECK(tree.files == files);
  CHECK(tree.notes.empty());
  CHECK(read_bytes(zip).size() < 2000);
  write_zip(again, files);
  CHECK(read_bytes(again) == read_bytes(zip));
  CHECK(contains(get_message([&] { write_zip(folder.file("none/x.zip"), files); }), "cannot write"));
}

TEST_CASE("tar is read, too, and what is no archive is refused") {
  const TemporaryFolder folder;
  ArchiveBuilder(folder.file("x.tar.gz"), Format::kTarGz).folder("a9").file("./a9//student/ring.cpp", "code");
  CHECK(read_archive(folder.file("x.tar.gz")).files == Files{{"a9/student/ring.cpp", "code"}});
  write_bytes(folder.file("x.zip"), "int main() {}\n");
  CHECK(contains(archive_refusal(folder.file("x.zip")), "x.zip: is not an archive that can be read"));
  write_bytes(folder.file("x.zip"), "");
  CHECK(contains(archive_refusal(folder.file("x.zip")), "x.zip: is not an archive that can be read"));
  CHECK(contains(archive_refusal(folder.file("x.nothing")), "x.nothing: expected an archive"));
  CHECK(contains(get_message([&] { read_archive("/tmp"); }), "/tmp: expected an archive"));
}

TEST_CASE("whatever the library reads by itself is read; an archive with a password is refused") {
  const TemporaryFolder folder;
  for (const Format format :
       {Format::kTar, Format::kTarBz2, Format::kTarXz, Format::kTarZst, Format::k7z, Format::kCpio}) {
    CAPTURE(static_cast<int>(format));
    ArchiveBuilder(folder.file("x.bin"), format).file("a9/student/ring.cpp", "code");
    CHECK(read_archive(folder.file("x.bin")).files == Files{{"a9/student/ring.cpp", "code"}});
  }
  ArchiveBuilder(folder.file("x.zip"), Format::kEncryptedZip).file("a9/student/ring.cpp", "code");
  CHECK(contains(archive_refusal(folder.file("x.zip")), "x.zip: is not an archive that can be read: it is encrypted"));
  write_bytes(folder.file("secret"), "the grader's own");  // a list of files of this machine is no archive
  write_bytes(folder.file("x.mtree"), "#mtree\nring.cpp type=file contents=" + folder.file("secret") + "\n");
  CHECK(contains(archive_refusal(folder.file("x.mtree")), "x.mtree: is not an archive that can be read"));
}

TEST_CASE("a zip that is broken is refused, wherever it was cut or changed") {
  const TemporaryFolder folder;
  std::string random;
  for (unsigned i = 0, state = 1; i < 5000; ++i)
    random += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const Files files = {{"a9/student/a.cpp", random}};
  write_zip(folder.file("x.zip"), files);
  const std::string whole = read_bytes(folder.file("x.zip"));
  for (const std::size_t length : {std::size_t{10}, whole.size() / 2}) {
    CAPTURE(length);
    write_bytes(folder.file("x.zip"), whole.substr(0, length));
    CHECK(contains(archive_refusal(folder.file("x.zip")), "x.zip: is "));
  }
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
  write_bytes(folder.file("x.zip"), changed);
  CHECK(contains(archive_refusal(folder.file("x.zip")), "x.zip: is broken"));
}

TEST_CASE("entries that would leave the folder, links and devices are left out, and said") {
  const TemporaryFolder folder;
  ArchiveBuilder(folder.file("x.tar.gz"), Format::kTarGz)
      .file("/etc/passwd", "root")
      .file("a9/../../up.cpp", "up")
      .file("C:/windows.cpp", "drive")
      .symlink("a9/student/link.cpp", "/etc/passwd")
      .hardlink("a9/student/hard.cpp", "/etc/passwd")
      .fifo("a9/student/pipe.cpp")
      .device("a9/student/zero.cpp")
      .file("a9/student/bad\x01name.cpp", "control")
      .file("a9/student/latin\xe9.cpp", "not UTF-8")
      .file("a9/student/" + std::string(300, 'n'), "long")
      .file("a9/student/fine.cpp", "fine");
  const FileTree tree = read_archive(folder.file("x.tar.gz"));
  CHECK(tree.files == Files{{"a9/student/fine.cpp", "fine"}});
  REQUIRE(tree.notes.size() == 10);
  CHECK(tree.notes[0] == "'/etc/passwd' was left out: its path is absolute");
  CHECK(tree.notes[1] == "'a9/../../up.cpp' was left out: its path has '..' in it");
  CHECK(tree.notes[2] == "'C:/windows.cpp' was left out: its path begins with a drive");
  CHECK(tree.notes[3] == "'a9/student/link.cpp' was left out: it is a link");
  CHECK(tree.notes[4] == "'a9/student/hard.cpp' was left out: it is a link");
  CHECK(tree.notes[5] == "'a9/student/pipe.cpp' was left out: it is not a regular file");
  CHECK(tree.notes[6] == "'a9/student/zero.cpp' was left out: it is not a regular file");
  CHECK(tree.notes[7] == "'a9/student/bad?name.cpp' was left out: its name is not printable UTF-8");
  CHECK(tree.notes[8] == "'a9/student/latin?.cpp' was left out: its name is not printable UTF-8");
  CHECK(contains(tree.notes[9], "its name is too long"));
}

TEST_CASE("a zip with '..', an absolute path and a link") {
  const TemporaryFolder folder;
  ArchiveBuilder(folder.file("x.zip"))
      .file("../up.cpp", "up")
      .file("/etc/cron.d/x", "root")
      .file("a9\\..\\..\\up.cpp", "up")
      .symlink("a9/student", "/etc")
      .file("a9/student/passwd", "x")
      .file("a9\\student\\windows.cpp", "backslashes");
  const FileTree tree = read_archive(folder.file("x.zip"));
  CHECK(tree.files == Files{{"a9/student/passwd", "x"}, {"a9/student/windows.cpp", "backslashes"}});
  CHECK(tree.notes.size() == 4);
}

TEST_CASE("two entries of one name, a file that is also a folder: the first is taken") {
  const TemporaryFolder folder;
  ArchiveBuilder(folder.file("x.zip"))
      .file("a9/student/ring.cpp", "first")
      .file("a9/student/ring.cpp", "second")
      .file("a9/./student/ring.cpp", "third")
      .file("a9/student/ring.cpp/inner.cpp", "below a file")
      .file("a9/student", "a folder by now");
  const FileTree tree = read_archive(folder.file("x.zip"));
  CHECK(tree.files == Files{{"a9/student/ring.cpp", "first"}});
  REQUIRE(tree.notes.size() == 4);
  CHECK(tree.notes[0] == "'a9/student/ring.cpp' was left out: another entry has the same name");
  CHECK(contains(tree.notes[2], "it is a file and a folder at once"));
  CHECK(contains(tree.notes[3], "it is a file and a folder at once"));
}

TEST_CASE("hidden files, __MACOSX and build folders are passed over in silence") {
  const TemporaryFolder folder;
  ArchiveBuilder(folder.file("x.zip"))
      .file(".git/config", "x")
      .file("a9/.DS_Store", "x")
      .file("__MACOSX/a9/._ring.cpp", "x")
      .file("build/release/a.o", "x")
      .file("a9/student/ring.cpp", "code");
  const FileTree tree = read_archive(folder.file("x.zip"));
  CHECK(tree.files == Files{{"a9/student/ring.cpp", "code"}});
  CHECK(tree.notes.empty());
}

TEST_CASE("an archive of 200,000 entries is refused at the first that is too many") {
  const TemporaryFolder folder;
  for (const std::string prefix : {"a9/student/", ".git/objects/"}) {
    {
      ArchiveBuilder builder(folder.file("x.zip"));
      for (int i = 0; i < 200000; ++i) builder.file(fmt::format("{}{}", prefix, i), "");
    }
    CHECK(contains(archive_refusal(folder.file("x.zip")), prefix == "a9/student/"
                                                              ? "x.zip: it has more than 10000 entries"
                                                              : "x.zip: it has more than 100000 entries"));
  }
}

TEST_CASE("a bomb of zeros is refused before it is unpacked") {
  const TemporaryFolder folder;
  ArchiveLimits small;
  small.max_file_bytes = 8 << 20;
  small.max_total_bytes = 16 << 20;
  for (const Format format : {Format::kZip, Format::kTarGz}) {
    if (format == Format::kZip) ArchiveBuilder(folder.file("x.zip"), format).zeros("a9/zeros", 64 << 20);
    if (format == Format::kTarGz)
      ArchiveBuilder(folder.file("x.zip"), format).file("a9/zeros", std::string(64 << 20, '\0'));
    CHECK(std::filesystem::file_size(folder.file("x.zip")) < 100000);
    CHECK(contains(archive_refusal(folder.file("x.zip"), small), "x.zip: a9/zeros is larger than 8 MiB"));
  }
  {
    ArchiveBuilder builder(folder.file("x.zip"));
    for (int i = 0; i < 3; ++i) builder.zeros(fmt::format("a9/zeros{}", i), 8 << 20);
  }
  CHECK(contains(archive_refusal(folder.file("x.zip"), small), "x.zip: unpacked, it has more than 16 MiB"));
  ArchiveBuilder(folder.file("x.zip")).zeros(".hidden", 200 << 20);
  CHECK(contains(archive_refusal(folder.file("x.zip"), small), "x.zip: unpacked, it has more than 160 MiB"));
}

TEST_CASE("a folder is read by the same rules") {
  const TemporaryFolder folder;
  const std::string root = folder.file("tree");
  std::filesystem::create_directories(root + "/a9/student");
  std::filesystem::create_directories(root + "/build/release");
  std::filesystem::create_directories(root + "/.git");
  write_bytes(root + "/a9/student/ring.cpp", "code");
  write_bytes(root + "/build/release/a.o", "object");
  write_bytes(root + "/.git/config", "x");
  std::filesystem::create_symlink("/etc", root + "/a9/etc");
  std::filesystem::create_symlink("/etc/passwd", root + "/a9/student/link.cpp");
  REQUIRE(::mkfifo((root + "/a9/student/pipe.cpp").c_str(), 0600) == 0);
  const FileTree tree = read_folder(root);
  CHECK(tree.files == Files{{"a9/student/ring.cpp", "code"}});
  CHECK(tree.notes == std::vector<std::string>{"'a9/etc' was left out: it is a link",
                                               "'a9/student/link.cpp' was left out: it is a link",
                                               "'a9/student/pipe.cpp' was left out: it is not a regular file"});
  CHECK(read_folder(root + "/").files == tree.files);
  ArchiveLimits small;
  small.max_file_bytes = 3;
  CHECK(contains(get_message([&] { read_folder(root, small); }), "a9/student/ring.cpp is larger than 3 B"));
  CHECK(contains(get_message([&] { read_folder(root + "/nothing"); }), "expected a folder that can be read"));
  CHECK(contains(get_message([&] { read_folder(root + "/a9/student/ring.cpp"); }), "expected a folder"));
}

}  // namespace
}  // namespace lab
