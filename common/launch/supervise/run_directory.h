#pragma once

#include <string>

#include "common/base/files.h"

namespace lab::launch {

/// A private folder for one run on one machine, under $TMPDIR or, if that is not set, under `fallback`. It is removed
/// with its contents at the end or, if this process was killed, by the next process that creates one. (/tmp may be in
/// memory; /var/tmp is on disk.)
/// Errors    UsageError: it cannot be created
class RunDirectory {
 public:
  explicit RunDirectory(const std::string& fallback = "/tmp");
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd lock_;  ///< on the folder, while this process or one that it forked is alive
};

}  // namespace lab::launch
