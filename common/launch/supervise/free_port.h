#pragma once

namespace lab {

/// A TCP port that nobody used a moment ago.
int free_port();

/// Finds out early, and in words, what rank 0 would run into. Somebody may still take the port before rank 0 does.
/// Errors    UsageError: the port is in use or not allowed
void check_port_is_free(int port);

}  // namespace lab
