#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "common/course/course_tree.h"
#include "common/course/starter/starter_tree.h"
#include "common/testing/temporary_folder.h"

// A small tree of one lab, as a student has it: the tests of the student's commands work on it.
namespace lab::testing {

inline constexpr char kSampleRubric[] = R"(lab = "a0_pipes"
title = "Pipes"
total = 10
[hand_in]
sources = ["student/pipes", "student/tap.cpp"]
answers = ["answers.md", "a0_pipes.log"]
run = "one run on 4 ranks"
[[task]]
id = "a0.pipe"
title = "A pipe"
file = "student/pipes/pipe.cpp"
read = "How a pipe is laid"
marks = 4
hints = ["one", "two", "three"]
[[task]]
id = "a0.valve"
title = "A valve"
file = "student/pipes/valve.cpp"
marks = 3
needs = ["a0.pipe"]
hints = ["one", "two", "three"]
[[task]]
id = "a0.tap"
title = "A tap"
file = "student/tap.cpp"
marks = 2
bonus = true
needs = []
hints = ["one", "two", "three"]
[[manual]]
id = "a0.words"
title = "Words"
file = "answers.md"
also = ["curves.png"]
marks = 3
)";

inline constexpr char kSampleReadme[] = R"(# A0: pipes

## Tasks

a0.pipe, a0.valve and a0.tap: valve valve valve.

## How a pipe is laid

A pipe has two ends.

## Valves

A valve closes.
)";

/// Two tasks in one file, with provided lines before, between and after their TODOs.
inline constexpr char kSampleValve[] = R"(#include "a0_pipes/valve.h"

int open_valve(int pressure) {
  // TODO(a0.valve): open it.
  not_implemented("a0.valve", pressure);
}

int close_valve(int pressure) {
  // TODO(a0.tap): close it.
  not_implemented("a0.tap", pressure);
  return 0;
}
)";

class SampleTree {
 public:
  SampleTree() {
    write("a0_pipes/rubric.toml", kSampleRubric);
    write("a0_pipes/README.md", kSampleReadme);
    write("a0_pipes/answers.template.md", "# Answers\n");
    write("a0_pipes/pipe.h", "int pipe();\n");
    write("a0_pipes/student/pipes/pipe.cpp", "#include \"a0_pipes/pipe.h\"\n// TODO(a0.pipe): lay it.\n");
    write("a0_pipes/student/pipes/valve.cpp", kSampleValve);
    write("a0_pipes/student/tap.cpp", "int tap() {\n  return 1;\n}\n");
  }

  std::string root() const { return folder_.file("tree"); }
  std::string path(const std::string& name) const { return root() + "/" + name; }
  CourseTree load() const { return CourseTree::load(root()); }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    write_bytes(path(name), bytes);
  }
  std::string read(const std::string& name) const { return read_bytes(path(name)); }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }

  /// Makes the file `seconds` newer.
  void make_later(const std::string& name, int seconds) const {
    const auto time = std::filesystem::last_write_time(path(name));
    std::filesystem::last_write_time(path(name), time + std::chrono::seconds(seconds));
  }

  /// Turns it into a starter, with the files as they are now and a list of them.
  void hand_out() const {
    StarterTree given;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root())) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().lexically_relative(root()).generic_string();
      given[name] = {read(name), false};
    }
    for (const auto& [name, file] : given) {
      if (is_student_file(name)) write(std::string(kPristineFolder) + "/" + name, file.bytes);
    }
    write(starter_list_path(), starter_list(given));
  }

 private:
  const TemporaryFolder folder_;
};

}  // namespace lab::testing
