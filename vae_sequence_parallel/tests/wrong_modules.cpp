#include "vae_sequence_parallel/tests/wrong_modules.h"

#include "common/api/autograd_facet.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/cases/cases.h"

namespace lab::vae {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Gathered : public torch::autograd::Function<Gathered> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::vector<std::int64_t>& widths,
                            Communicator* comm) {
    remember(context, comm);
    context->saved_data["widths"] = widths;
    return gather_width({x, widths}, comm->collectives());
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Communicator& comm = recall<Communicator>(context);
    const at::Tensor sum = comm.collectives().all_reduce(grad_outputs[0].clone(at::MemoryFormat::Contiguous));
    const std::vector<std::int64_t> widths = context->saved_data["widths"].toIntVector();
    return {own_part(sum, 3, widths, comm.rank()).contiguous(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor gathered(const WidthShard& x, Communicator& comm) {
  return Gathered::apply(x.columns, x.widths, &comm);
}

WidthShard own_share(const at::Tensor& whole, const std::vector<std::int64_t>& widths, const Communicator& comm) {
  return {own_part(whole, 3, widths, comm.rank()), widths};
}

std::string verdict(const std::string& case_name, const ModuleMaker& make) {
  return testing::verdict(all_cases(), case_name, module_call(make), 4);
}

std::vector<Case> with_free_messages(std::vector<Case> cases, bool any_work) {
  for (Case& test_case : cases) {
    test_case.bounds = {};
    if (any_work) test_case.work = {};
  }
  return cases;
}

bool but_for_work(const std::string& verdict) {
  return testing::contains(verdict, "does 1.0") && testing::contains(verdict, " of one process's work");
}

std::string symptom(const std::string& case_name, const ModuleMaker& make) {
  return testing::symptom_of(all_cases(), case_name, module_call(make), 4);
}

}  // namespace lab::vae
