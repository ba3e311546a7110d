#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace lab::grading {

/// What is kept of one lab of one student.
struct StoredResult {
  std::string who, lab;
  std::string file;     ///< the hand-in, from the folder of all
  std::string version;  ///< of what was handed in: another one is graded again
  std::string judging;  ///< of everything else that the outcome depends on: suite, rubric, seed
  std::string outcome;  ///< as JSON
};

/// The results of a class in one SQLite file, which an interrupted grading goes on from. What has been kept survives
/// the end of this process and of the machine.
/// Call      from one process at a time, and never in a process forked from it
/// Errors    all: UsageError: the file cannot be read or written, or belongs to something else
/// Source    SQLiteCpp; the only place that uses SQLite
class ResultStore {
 public:
  /// Opens the file, or creates it.
  explicit ResultStore(const std::string& path);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  /// A value that is kept with the results, such as their seed.
  std::optional<std::string> note(const std::string& name) const;
  void set_note(const std::string& name, const std::string& value);

  /// Keeps the results of a hand-in, all of them or none; they replace the student's earlier ones of the same labs.
  void keep(const std::vector<StoredResult>& of_one_hand_in);
  /// Of all students and labs, in order. Without the outcomes, which are read one by one.
  std::vector<StoredResult> all_without_outcomes() const;
  /// Nothing: that lab of that student was not graded.
  std::optional<StoredResult> find(const std::string& who, const std::string& lab) const;

 private:
  const std::string path_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace lab::grading
