#pragma once

#include <filesystem>

namespace lab::grading {

/// Not a folder that only the suite's authors and graders need.
bool is_wanted_folder(const std::filesystem::path& folder);

/// Whether a file belongs in a source tree, or was left there by a run, a compiler or an editor.
bool is_wanted_file(const std::filesystem::path& file);

}  // namespace lab::grading
