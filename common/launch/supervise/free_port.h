#pragma once

namespace lab::launch {

/// A TCP port that was free a moment ago.
int free_port();

/// Reports a port problem early, before rank 0 runs into it. The port may still be taken before rank 0 binds it.
/// Errors    UsageError: the port is in use or not allowed
void check_port_is_free(int port);

}  // namespace lab::launch
