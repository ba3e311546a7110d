#pragma once

#include <string>
#include <vector>

#include "common/course/starter/starter_tree.h"

namespace lab {

/// What an update did.
struct StarterUpdate {
  bool fresh = false;  ///< there was no starter before
  std::size_t num_files = 0, num_written = 0, num_removed = 0;
  /// What a student has to know, a message each: files that were kept, put beside others, or moved to the backup.
  std::vector<std::string> words;
};

/// Makes the folder the starter `tree`; what a student did in it stays:
///
///     a file that nobody edited                  is replaced
///     a student file, edited, handed out as before   stays
///     a student file, edited, handed out anew    stays; the new one is put beside it as FILE.new
///     a provided file, edited                    is moved to .lab-backup/ and replaced
///     a file that the new version has no longer  is removed, unless it was edited
///     any other file                             stays
///
/// Files that are as they should be are left alone, so that nothing is built again for them.
/// Call      local; the folder is made where it is not there
/// Errors    UsageError: the folder holds other things and no starter (nothing is changed); a file cannot be read or
///           written: what was not reached stays as it was, no file is half written, and the same call can be repeated
StarterUpdate update_starter(const StarterTree& tree, const std::string& folder);

/// The update as lines to print.
std::string to_text(const StarterUpdate& update, const std::string& folder);

}  // namespace lab
