#include "common/launch/supervise/run_directory.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::launch;
namespace fs = std::filesystem;

namespace {

/// TMPDIR while it lives.
class TemporaryFolders {
 public:
  explicit TemporaryFolders(const std::string& parent) {
    if (const char* before = ::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", parent.c_str(), 1);
  }
  ~TemporaryFolders() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("the folder that a killed run left is removed by the next run") {
  const lab::testing::TemporaryFolder parent;
  const TemporaryFolders in_parent(parent.file(""));
  const std::string abandoned = parent.file("lab-work-abc123"), other = parent.file("something-else");
  for (const std::string& path : {abandoned, other}) {
    fs::create_directory(path);
    std::ofstream(path + "/results") << "partial";
  }
  {
    const RunDirectory directory;
    CHECK(fs::exists(directory.path()));
    CHECK_FALSE(fs::exists(abandoned));
    CHECK(fs::exists(other));
    const RunDirectory second;  // the first is in use
    CHECK(fs::exists(directory.path()));
  }
  CHECK(parent.num_files() == 1);
}
