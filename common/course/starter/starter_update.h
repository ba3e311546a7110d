#pragma once

#include <string>
#include <vector>

#include "common/course/starter/starter_tree.h"

namespace lab {

/// What an update did.
struct StarterUpdate {
  bool fresh = false;  ///< there was no starter before
  std::size_t num_files = 0, num_written = 0, num_removed = 0;
  /// What a student must know, one line each: files that were kept, put next to others, or moved to the backup.
  std::vector<std::string> messages;
};

/// Turns the folder into the starter `tree`; the student's work in it stays:
///
///     an unedited file                                      is replaced
///     an edited student file, same in the new version       stays
///     an edited student file, changed in the new version    stays; the new one is put next to it as FILE.new
///     an edited provided file                               is moved to .lab-backup/ and replaced
///     a file that the new version no longer has             is removed, unless it was edited
///     any other file                                        stays
///
/// Files that are already right are not touched, so that they are not rebuilt.
/// Call      local; the folder is created if it does not exist
/// Errors    UsageError: the folder holds other things and no starter (nothing is changed); a file cannot be read or
///           written: files not reached stay as they were, no file is half written, and the call can be repeated
StarterUpdate update_starter(const StarterTree& tree, const std::string& folder);

/// The update as lines to print.
std::string to_text(const StarterUpdate& update, const std::string& folder);

}  // namespace lab
