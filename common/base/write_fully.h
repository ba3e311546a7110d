#pragma once

#include <string_view>

namespace lab {

/// Writes all of the text, in one write(2) unless the system takes only a part. Returns 0, or the errno of the failure.
/// A reader that went away is EPIPE and no signal, whatever the process does with SIGPIPE.
int write_fully(int fd, std::string_view text);

}  // namespace lab
