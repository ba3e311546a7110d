#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/testing/temporary_folder.h"
#include "grading/submission/submission.h"

// Two small labs, and submissions of them on disk.
namespace lab::grading::testing {

/// Folders of sources, a picture that a PDF may replace, and written answers.
inline KnownLab a9() {
  KnownLab lab;
  lab.rubric.lab = "a9_collectives";
  lab.rubric.hand_in.sources = {"student/broadcast", "student/allgather"};
  lab.rubric.hand_in.answers = {"drawing.png", "written.md"};
  RubricManual drawing;
  drawing.id = "a9.drawing";
  drawing.file = "drawing.png";
  drawing.also = {"drawing.pdf"};
  lab.rubric.manuals = {drawing};
  lab.student_files = {"student/allgather/ring.cpp", "student/broadcast/flat.cpp", "student/not_asked_for.cpp"};
  return lab;
}

/// A single markdown with the code in it.
inline KnownLab a5() {
  KnownLab lab;
  lab.rubric.lab = "a5_pipeline";
  lab.rubric.hand_in.sources = {"student/baseline.cpp"};
  lab.rubric.hand_in.answers = {"a5_answers.md"};
  RubricManual sketch;
  sketch.id = "a5.sketch";
  sketch.file = "a5_answers.md";
  sketch.also = {"sketch.png"};
  lab.rubric.manuals = {sketch};
  lab.student_files = {"student/baseline.cpp"};
  return lab;
}

inline std::vector<KnownLab> both_labs() {
  return {a5(), a9()};
}

using FileMap = std::map<std::string, std::string>;

/// All that a9 asks for, from the lab's folder.
inline FileMap whole_a9() {
  return {{"student/allgather/ring.cpp", "int ring;\n"},
          {"student/broadcast/flat.cpp", "int flat;\n"},
          {"drawing.png", std::string("\x89PNG\0", 5)},
          {"written.md", "20\n"}};
}

inline FileMap below(const std::string& folder, const FileMap& files) {
  FileMap moved;
  for (const auto& [path, bytes] : files) moved[folder + path] = bytes;
  return moved;
}

/// Writes files under a folder, and returns its path.
inline std::string written_to(const lab::testing::TemporaryFolder& folder, const std::string& name,
                              const FileMap& files) {
  for (const auto& [path, bytes] : files) {
    const std::filesystem::path file = folder.file(name + "/" + path);
    std::filesystem::create_directories(file.parent_path());
    lab::testing::write_bytes(file.string(), bytes);
  }
  return folder.file(name);
}

}  // namespace lab::grading::testing
