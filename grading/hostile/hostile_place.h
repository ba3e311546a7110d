#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "grading/hostile/hostile_index.h"

namespace lab::grading {

/// Where one hostile hand-in is graded: a grader's folders, in which there are things that it must neither read nor
/// touch. All of it is below one folder.
class HostilePlace {
 public:
  /// `source` and `build`: the suite's, absolute.
  /// Errors    UsageError: a folder cannot be made, or no port is free
  HostilePlace(std::string folder, std::string source, std::string build);

  std::string home() const { return folder_ + "/home"; }               ///< the grader's, with a secret
  std::string temporary() const { return folder_ + "/tmp"; }           ///< empty, the grader's TMPDIR
  std::string working_folder() const { return folder_ + "/here"; }     ///< empty, the grader's
  std::string results() const { return folder_ + "/results"; }         ///< empty
  std::string neighbour() const { return folder_ + "/hand_ins/bob"; }  ///< what another student has handed in
  const std::string& source() const { return source_; }
  const std::string& build() const { return build_; }
  const std::string& mark() const { return mark_; }  ///< a secret for the grader's environment

  /// Hands the entry in: a folder, or an archive. Returns its path.
  std::string hand_in(const HostileEntry& entry, const std::string& lab_folder);
  /// The text with the names of this place for @SOURCE@, @BUILD@, @HOME@, @NEIGHBOUR@ and @PORT@ (where something
  /// listens that must not be connected to).
  std::string filled_in(const std::string& text) const;

  /// Whether a text tells one of the secrets.
  bool is_told_by(const std::string& text) const;
  /// What the hand-in or the grading has changed here, beyond the results: a line each. What is left in temporary() is
  /// damage, too.
  std::vector<std::string> damage() const;

 private:
  std::map<std::string, std::string> contents() const;

  std::string folder_, source_, build_;
  std::string mark_, secret_;
  int port_ = 0;
  UniqueFd listener_;
  std::map<std::string, std::string> before_;  ///< contents() when all was handed in
};

/// "zip_slip", "zip_bomb", ...
std::vector<std::string> hostile_archive_names();

/// Writes the archive of this name. Those with links point at files of the place.
/// Errors    UsageError: there is no such archive
void write_hostile_archive(const std::string& name, const std::string& path, const HostilePlace& place);

}  // namespace lab::grading
