#include "vae_sequence_parallel/norm_suspects.h"

#include <c10/core/GradMode.h>

#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/moments.h"

namespace lab::vae {
namespace {

/// Moments [B, G, 3] that a mistake makes of those of each rank, [P, B, G, 3].
using WrongMoments = std::function<at::Tensor(const at::Tensor& of_ranks, int rank)>;

at::Tensor own_moments(const at::Tensor& of_ranks, int rank) {
  return of_ranks[rank];
}

/// The variance is the mean of variances, by the number of values; the mean is right.
at::Tensor without_variance_of_means(const at::Tensor& of_ranks, int) {
  const at::Tensor n = of_ranks.select(-1, 0), all = n.sum(0);
  const at::Tensor mean = (n * of_ranks.select(-1, 1)).sum(0) / all;
  return at::stack({all, mean, of_ranks.select(-1, 2).sum(0)}, -1);
}

/// The same with every rank counted alike.
at::Tensor plain_averages(const at::Tensor& of_ranks, int) {
  const at::Tensor n = of_ranks.select(-1, 0), all = n.sum(0);
  const at::Tensor variance = (of_ranks.select(-1, 2) / n.clamp_min(1)).mean(0);
  return at::stack({all, of_ranks.select(-1, 1).mean(0), variance * all}, -1);
}

Suspect local_variance(const Case& the_case, const std::string& sentence, const WrongMoments& moments) {
  return {"local_variance", sentence, [inputs = the_case.inputs, moments](const CasePlace& place) {
            const c10::NoGradGuard no_grad;
            const CaseInputs own = inputs(place);
            std::vector<at::Tensor> of_ranks;
            for (int rank = 0; rank < place.size; ++rank)
              of_ranks.push_back(
                  local_moments(inputs({rank, place.size, place.seed}).tensor("input.x"), own.whole("groups")));
            const GroupStatistics statistics(moments(at::stack(of_ranks), place.rank), GroupNorm::kEpsilon);
            return TensorMap{{"out", normalized(own.tensor("input.x"), statistics, own.tensor("weight.weight"),
                                                own.tensor("weight.bias"))}};
          }};
}

}  // namespace

Case with_norm_suspects(Case the_case) {
  const char* averaged =
      "the variance of local means is missing: averaged variances of ranks are not the variance of all columns, as the "
      "means of ranks differ; merge n, mean and M2";
  the_case.suspects = {
      local_variance(the_case, "every rank normalises by the mean and the variance of its own columns only",
                     own_moments),
      local_variance(the_case, averaged, without_variance_of_means),
      local_variance(the_case, averaged, plain_averages)};
  return the_case;
}

}  // namespace lab::vae
