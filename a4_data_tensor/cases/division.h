#pragma once

#include <fmt/format.h>

#include "a4_data_tensor/cases/cases.h"

namespace lab::a4 {

/// Case::skip_reason of a case that splits this size over the ranks.
inline std::function<std::string(int num_ranks)> if_not_divided(const SizesFor& sizes_for,
                                                                std::int64_t StepOptions::*size) {
  return [=](int num_ranks) -> std::string {
    const std::int64_t whole = sizes_for(num_ranks).step.*size;
    return whole % num_ranks == 0 ? "" : fmt::format("{} does not divide by {} ranks", whole, num_ranks);
  };
}

/// Of what all ranks share, rounded up.
inline std::int64_t share_of_rank(std::int64_t whole, const CasePlace& place) {
  return (whole + place.size - 1) / place.size;
}

}  // namespace lab::a4
