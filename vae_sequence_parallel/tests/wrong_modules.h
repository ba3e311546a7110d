#pragma once

#include <string>
#include <vector>

#include "common/checks/case.h"
#include "vae_sequence_parallel/calls/module_call.h"
#include "vae_sequence_parallel/layers.h"

// Building blocks of the wrong solutions: the whole picture on every rank, from which a module takes what it needs.
namespace lab::vae {

/// The columns of all ranks. Differentiable: in the backward pass a rank's columns get the gradients from all ranks.
/// Call      collective, by a built-in all-to-all
at::Tensor gathered(const WidthShard& x, Communicator& comm);

/// This rank's share of a whole picture.
WidthShard own_share(const at::Tensor& whole, const std::vector<std::int64_t>& widths, const Communicator& comm);

/// A serial module on the whole picture, of which each rank keeps its share. Right, except for what it sends.
template <class Serial>
ShardFunction by_gathering(const Serial& module, Communicator& comm) {
  return [module, &comm](WidthShard x) {
    const at::Tensor out = module.forward(gathered(x, comm));
    const std::int64_t factor = out.size(3) / x.total_width();
    for (std::int64_t& width : x.widths) width *= factor;
    return own_share(out, x.widths, comm);
  };
}

/// The verdict on the named case, on 4 ranks, with such a module instead of the student's; see testing::verdict.
std::string verdict(const std::string& case_name, const ModuleMaker& make);

/// The cases without bounds on what is sent, for what a solution computes and holds; with `any_work`, only for what it
/// holds.
std::vector<Case> with_free_messages(std::vector<Case> cases, bool any_work = false);

/// Whether this verdict says that a rank does at least as much as one process: values are checked before work, so that
/// they are right.
bool but_for_work(const std::string& verdict);

/// The id of the symptom that the case shows; empty: none.
std::string symptom(const std::string& case_name, const ModuleMaker& make);

}  // namespace lab::vae
