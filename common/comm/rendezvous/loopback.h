#pragma once

#include <string>

namespace lab {

/// This machine's loopback address: 127.0.0.1, or ::1 where there is only that.
/// Errors    UsageError: it has neither
std::string loopback_address();

}  // namespace lab
