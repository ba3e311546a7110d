#pragma once

#include <gloo/rendezvous/context.h>

#include <memory>
#include <string>

namespace lab {

/// Gloo without anything of this suite: `size` processes of this machine, connected over the folder, which each world
/// needs for itself.
std::shared_ptr<gloo::rendezvous::Context> raw_gloo(const std::string& folder, int rank, int size);

}  // namespace lab
