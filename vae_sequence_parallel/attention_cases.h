#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::vae {

/// vae.ulysses, vae.ulysses_messages, vae.ring_attention, vae.ring_messages: attention alone, of positions in any
/// numbers; scores that no exponential survives uncorrected; and what travels.
std::vector<Case> attention_cases();
/// vae.attention_gradient.
std::vector<Case> attention_gradient_cases();

}  // namespace lab::vae
