#include "grading/starter/needed_files.h"

#include <algorithm>
#include <filesystem>

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab::grading {
namespace {

using Paths = std::vector<std::string>;

/// A tree in which `lab` is linked with `base`, and `bench` with both.
struct Tree {
  testing::TemporaryFolder folder;
  const std::string root = folder.file("");

  void write(const std::string& path, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    testing::write_bytes(root + path, bytes);
  }
  BuildTargets targets() const {
    write("targets.txt",
          "base\tlab::fmt\tcommon/base/text.cpp common/base/help.cpp\n"
          "lab\tbase\tlab/main.cpp\n"
          "lab\tdraws\tlab/main.cpp\n"
          "draws\t\tcommon/draws/draws.cpp\n"
          "sent\t\tcommon/draws/sent.cpp\n"
          "bench\tlab\tcommon/bench/bench.cpp common/base/text.cpp\n"
          "alone\t\tcommon/base/alone.cpp\n");
    return read_build_targets(root + "targets.txt");
  }
  Paths needed(const Paths& programs) const {
    Paths paths =
        needed_files(root.substr(0, root.size() - 1), "common", NeededSources(targets(), programs), {"lab/main.cpp"});
    std::sort(paths.begin(), paths.end());
    return paths;
  }
};

TEST_CASE("needed files: of the targets that a program is linked with, and the headers that these include") {
  const Tree tree;
  for (const char* path : {"common/base/alone.cpp", "common/base/alone.h", "common/base/text.cpp", "common/base/text.h",
                           "common/base/unused.h", "common/base/CMakeLists.txt", "common/base/pages/style.css",
                           "common/base/tests/text_test.cpp", "common/base/core.o", "common/bench/bench.cpp",
                           "common/bench/CMakeLists.txt", "common/draws/draws.cpp", "common/draws/sent.cpp",
                           "common/api/unused.h", "common/api/seam.h"}) {
    tree.write(path, "");
  }
  tree.write("common/base/text.cpp", "#include \"common/base/text.h\"\n#include <string>\n");
  tree.write("common/base/help.cpp", "#include \"embedded/pages/style.h\"\n");
  tree.write("common/base/text.h", "#pragma once\n#include \"common/bench/turns.h\"\n");
  tree.write("common/bench/turns.h", "");
  tree.write("common/base/facet.h", "");
  tree.write("common/page.md", "Read [this](base/facet.h#top) and [that](https://example.org/base/other.h).\n");
  tree.write("lab/main.cpp", "#include \"common/api/seam.h\"\n#include \"lab/own.h\"\n");
  CHECK(tree.needed({"lab"}) == Paths{"common/api/seam.h", "common/base/CMakeLists.txt", "common/base/facet.h",
                                      "common/base/help.cpp", "common/base/pages/style.css", "common/base/text.cpp",
                                      "common/base/text.h", "common/bench/turns.h", "common/draws/draws.cpp",
                                      "common/page.md"});
  const Paths of_bench = tree.needed({"bench"});
  CHECK(std::count(of_bench.begin(), of_bench.end(), "common/bench/bench.cpp") == 1);
  CHECK(std::count(of_bench.begin(), of_bench.end(), "common/base/alone.cpp") == 0);
}

TEST_CASE("needed files: a program that the build does not have, and a list that is none, are refused") {
  const Tree tree;
  CHECK(testing::get_message([&] {
          tree.needed({"lab", "b1_total"});
        }) == "the build has no program 'b1_total'; hint: ./lab build");
  tree.write("other.txt", "base\tlab::fmt\n");
  CHECK(testing::get_message([&] { read_build_targets(tree.root + "other.txt"); }) ==
        tree.root +
            "other.txt: expected lines of a target, what it is linked with and its sources, got 'base\tlab::fmt'");
}

}  // namespace
}  // namespace lab::grading
