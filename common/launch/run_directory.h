#pragma once

#include <string>

namespace lab {

/// A private folder for one run on one machine, under $TMPDIR or, where that is not set, under `fallback`; it and what
/// lies in it are removed at the end. (/tmp may be in memory; /var/tmp is on disk.)
/// Errors    UsageError: it cannot be made
class RunDirectory {
 public:
  explicit RunDirectory(const std::string& fallback = "/tmp");
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string event_file() const { return path_ + "/events"; }
  std::string store_file() const { return path_ + "/store"; }

 private:
  std::string path_;
};

}  // namespace lab
