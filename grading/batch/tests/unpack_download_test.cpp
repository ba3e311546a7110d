#include <filesystem>

#include "common/api/errors.h"
#include "common/testing/archive_builder.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/batch/class_folder.h"

namespace lab::grading {
namespace {

using lab::testing::ArchiveBuilder;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;

TEST_CASE("a bulk download is unpacked into its folder and nowhere else") {
  const TemporaryFolder folder;
  {
    ArchiveBuilder archive(folder.file("all.zip"));
    archive.folder("ada/").file("ada/a9.zip", "PK").file("bob.zip", std::string(200'000, 'b'));
    archive.file("../up.zip", "x").file("/abs.zip", "x").symlink("link.zip", "/etc/passwd").file("__MACOSX/x", "x");
  }
  std::filesystem::create_directory(folder.file("out"));
  const std::vector<std::string> notes = unpack_download(folder.file("all.zip"), folder.file("out"));
  CHECK(read_bytes(folder.file("out/ada/a9.zip")) == "PK");
  CHECK(read_bytes(folder.file("out/bob.zip")).size() == 200'000);
  CHECK(notes.size() == 3);
  CHECK_FALSE(std::filesystem::exists(folder.file("up.zip")));
  CHECK(std::filesystem::symlink_status(folder.file("out/link.zip")).type() == std::filesystem::file_type::not_found);
  std::size_t num_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.file("out")))
    num_files += entry.is_regular_file() ? 1 : 0;
  CHECK(num_files == 2);
}

TEST_CASE("a file that is not an archive is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("out"));
  lab::testing::write_bytes(folder.file("x.zip"), "no archive");
  CHECK_THROWS_AS(unpack_download(folder.file("x.zip"), folder.file("out")), UsageError);
  CHECK_THROWS_AS(unpack_download(folder.file("none.zip"), folder.file("out")), UsageError);
}

}  // namespace
}  // namespace lab::grading
