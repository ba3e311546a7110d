#pragma once

#include <string>

#include "common/base/files.h"

namespace lab {

/// A private folder for one run on one machine, under $TMPDIR or, where that is not set, under `fallback`; it and what
/// lies in it are removed at the end, or, where that process was killed, by the next that makes one. (/tmp may be in
/// memory; /var/tmp is on disk.)
/// Errors    UsageError: it cannot be made
class RunDirectory {
 public:
  explicit RunDirectory(const std::string& fallback = "/tmp");
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd lock_;  ///< on the folder, as long as this process or one that it forked lives
};

}  // namespace lab
