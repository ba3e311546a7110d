#include "grading/mutants/generated/share.h"

#include <cmath>

namespace lab::grading::generated {
namespace {

constexpr double kImprobable = 0.01;

/// Of at most `found` in `tried` independent tries that succeed with probability `share`, in (0, 1).
double probability_of_at_most(int found, int tried, double share) {
  double sum = 0;
  for (int k = 0; k <= found; ++k) {
    const double log_ways = std::lgamma(tried + 1) - std::lgamma(k + 1) - std::lgamma(tried - k + 1);
    sum += std::exp(log_ways + k * std::log(share) + (tried - k) * std::log1p(-share));
  }
  return sum;
}

}  // namespace

bool is_share_at_least(double percent, int found, int tried, bool sampled) {
  const double share = percent / 100;
  if (found >= share * tried) return true;
  return sampled && share < 1 && probability_of_at_most(found, tried, share) >= kImprobable;
}

}  // namespace lab::grading::generated
