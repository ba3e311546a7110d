#include "grading/hostile/hostile_index.h"

#include <cstdlib>
#include <filesystem>

#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

using lab::testing::contains;
using lab::testing::get_message;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

const std::vector<std::string> kTasks = {"x.first", "x.second"};

constexpr char kBomb[] = "[[hostile]]\nname = \"bomb\"\ntask = \"x.first\"\nwhat = \"explodes\"\n";
constexpr char kSlip[] =
    "[[hostile]]\nname = \"slip\"\ntask = \"x.second\"\nwhat = \"slips\"\narchive = \"zip_slip\"\n";

/// A corpus with this index, and the folder of the entry "bomb".
class Corpus {
 public:
  explicit Corpus(const std::string& index) {
    write_bytes(folder_.file("hostile.toml"), index);
    add("bomb/student/x.cpp");
  }

  void add(const std::string& file) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    write_bytes(path(file), "x");
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path(file)); }
  std::vector<HostileEntry> load() const { return load_hostile(folder_.file("."), kTasks); }
  std::string refusal() const {
    return get_message([&] { load(); });
  }

 private:
  std::string path(const std::string& file) const { return folder_.file(file); }
  TemporaryFolder folder_;
};

TEST_CASE("hostile entries are read in order, with what they leave out") {
  const Corpus corpus(std::string(kBomb) + "says = [\"memory\"]\nat_limits = \"It explodes.\"\nquick = true\n" + kSlip);
  const std::vector<HostileEntry> entries = corpus.load();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "bomb");
  CHECK(entries[0].lab == "x");
  CHECK(entries[0].says == std::vector<std::string>{"memory"});
  CHECK(entries[0].at_limits == "It explodes.");
  CHECK(entries[0].quick);
  CHECK(entries[0].marks == 0);
  CHECK(entries[0].most_seconds > 60);
  CHECK(entries[1].archive == "zip_slip");
  CHECK_FALSE(entries[1].quick);
}

TEST_CASE("a hostile entry without its file, or a folder without an entry, is refused") {
  const Corpus corpus(kBomb);
  corpus.add("forgotten/student/x.cpp");
  CHECK(contains(corpus.refusal(), "forgotten is not listed"));
  corpus.remove("forgotten");
  CHECK(corpus.load().size() == 1);
  corpus.remove("bomb/student/x.cpp");
  CHECK(contains(corpus.refusal(), "bomb is listed, but there is no file in"));
  corpus.remove("bomb");
  CHECK(contains(corpus.refusal(), "bomb is listed, but there is no file in"));
}

TEST_CASE("a hostile entry must name a task, an archive and keys that exist, once") {
  std::string other_task = kBomb, other_archive = std::string(kBomb) + kSlip;
  other_task.replace(other_task.find("x.first"), 7, "x.frist");
  other_archive.replace(other_archive.find("zip_slip"), 8, "zip_slap");
  CHECK(contains(Corpus(other_task).refusal(), "bomb: no lab has a task x.frist; did you mean 'x.first'?"));
  CHECK(contains(Corpus(other_archive).refusal(), "slip: there is no archive zip_slap; did you mean 'zip_slip'?"));
  CHECK(contains(Corpus(std::string(kBomb) + "quik = true\n").refusal(), "quik"));
  CHECK(contains(Corpus(std::string(kBomb) + kBomb).refusal(), "bomb is listed twice"));
  const Corpus both(std::string(kBomb) + kSlip);
  both.add("slip/student/x.cpp");
  CHECK(contains(both.refusal(), "slip is an archive, but"));
}

TEST_CASE("the README has every hostile entry, and what each may do without bubblewrap") {
  const std::string corpus = std::string(std::getenv("LAB_SOURCE_DIR")) + "/grading/hostile";
  const std::string readme = read_bytes(corpus + "/README.md"), index = read_bytes(corpus + "/hostile.toml");
  std::vector<std::string> tasks;
  for (std::size_t at = 0; (at = index.find("task = \"", at)) != std::string::npos; ++at)
    tasks.push_back(index.substr(at + 8, index.find('"', at + 8) - at - 8));
  const std::vector<HostileEntry> entries = load_hostile(corpus, tasks);
  CHECK(entries.size() >= 42);
  for (const HostileEntry& entry : entries) {
    CAPTURE(entry.name);
    CHECK(contains(readme, "`" + entry.name + "`"));
    CHECK(contains(readme, entry.at_limits));
  }
}

}  // namespace
}  // namespace lab::grading
