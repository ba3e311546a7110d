#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/testing/captured.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace {

using lab::testing::contains;

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string refusal(const std::string& path) {
  return lab::testing::get_message<lab::UsageError>([&] { lab::write_file_atomically(path, "x"); });
}

auto num_files(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("atomic file: writes, replaces, keeps every byte, leaves no other file") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("report.json");
  lab::write_file_atomically(path, "one");
  CHECK(content(path) == "one");
  const std::string bytes("a\0b\r\n\xff", 6);
  lab::write_file_atomically(path, bytes);
  CHECK(content(path) == bytes);
  lab::write_file_atomically(path, "");
  CHECK(content(path).empty());
  CHECK(num_files(folder.file("")) == 1);
}

TEST_CASE("atomic file: a path that cannot be written gives one clear message") {
  const lab::testing::TemporaryFolder folder;
  CHECK(contains(refusal(""), "expected the name of a file"));
  CHECK(contains(refusal(folder.file("")), "it is a folder"));
  CHECK(contains(refusal(folder.file("new/")), "it is a folder"));
  const std::string missing = refusal(folder.file("no/such/x.json"));
  CHECK(contains(missing, "there is no folder"));
  CHECK(contains(missing, "mkdir -p"));
  lab::write_file_atomically(folder.file("file"), "kept");
  CHECK(contains(refusal(folder.file("file/x")), "cannot write"));
  CHECK(content(folder.file("file")) == "kept");
  CHECK(num_files(folder.file("")) == 1);
}

TEST_CASE("atomic file: the old content survives a full disk") {
  CHECK(contains(refusal("/dev/full"), "No space left"));

  const lab::testing::TemporaryFolder folder;
  lab::write_file_atomically(folder.file("kept"), "old");
  const pid_t child = ::fork();
  if (child == 0) {
    // No byte may be written to a file, as on a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit nothing{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &nothing);
    ::_exit(refusal(folder.file("kept")) == "nothing was thrown" ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(content(folder.file("kept")) == "old");
  CHECK(num_files(folder.file("")) == 1);
}

TEST_CASE("atomic file: a link is followed, a device is written to and not replaced") {
  const lab::testing::TemporaryFolder folder;
  lab::write_file_atomically(folder.file("target"), "old");
  fs::create_symlink("target", folder.file("link"));
  lab::write_file_atomically(folder.file("link"), "new");
  CHECK(content(folder.file("target")) == "new");
  CHECK(fs::is_symlink(folder.file("link")));
  lab::write_file_atomically("/dev/null", "x");
  struct stat found {};
  REQUIRE(::stat("/dev/null", &found) == 0);
  CHECK(S_ISCHR(found.st_mode));
}

TEST_CASE("atomic file: nothing under the name before commit, all of it after") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("result");
  lab::AtomicFile file(path);
  file.write("hello ");
  CHECK_FALSE(fs::exists(path));
  file.write("world");
  file.commit();
  CHECK(content(path) == "hello world");
  CHECK(num_files(folder.file("")) == 1);
}

TEST_CASE("atomic file: without commit nothing is left, and what was there stays") {
  const lab::testing::TemporaryFolder folder;
  lab::write_file_atomically(folder.file("result"), "old");
  {
    lab::AtomicFile file(folder.file("result"));
    file.write("new");
  }
  CHECK(content(folder.file("result")) == "old");
  CHECK(num_files(folder.file("")) == 1);
}

TEST_CASE("atomic file: two writers of one name do not interfere; the last commit wins") {
  const lab::testing::TemporaryFolder folder;
  lab::AtomicFile first(folder.file("result"));
  lab::AtomicFile second(folder.file("result"));
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  CHECK(content(folder.file("result")) == "second");
  CHECK(num_files(folder.file("")) == 1);
}
