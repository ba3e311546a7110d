#pragma once

#include <cstdint>

namespace lab::vae {

/// In units of 10^6 bytes, MB.
inline double megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

}  // namespace lab::vae
