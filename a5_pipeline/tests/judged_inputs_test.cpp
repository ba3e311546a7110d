#include <fmt/format.h>

#include "a5_pipeline/cases/cases.h"
#include "common/testing/test.h"

// A judged rank is sent its own stages' weights, and the data only if it has the first stage.
namespace lab::a5 {
namespace {

bool is_prefix(const std::string& prefix, const std::string& name) {
  return name.compare(0, prefix.size(), prefix) == 0;
}

/// The names that begin like this.
std::vector<std::string> list_names(const TensorMap& tensors, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& named : tensors) {
    if (is_prefix(prefix, named.first)) names.push_back(named.first);
  }
  return names;
}

void check_judged(const Case& test_case, int size) {
  CAPTURE(test_case.name);
  CAPTURE(size);
  TensorMap of_all_ranks;
  for (int rank = 0; rank < size; ++rank) {
    CAPTURE(rank);
    const CasePlace place{rank, size, 7};
    const TensorMap all = test_case.inputs(place).tensors, sent = judged_inputs(test_case, place).tensors;
    for (const auto& [name, tensor] : sent) CHECK(at::equal(tensor, all.at(name)));
    // The weights of the layers whose gradients it must return, and no others.
    std::vector<std::string> own;
    for (const auto& result : test_case.expected(place)) {
      const std::string& name = result.first;
      if (is_prefix("layer", name))
        own.push_back("weight." + name.substr(0, name.size() - std::string(".grad").size()));
    }
    CHECK((list_names(sent, "weight.") == own));
    CHECK(list_names(sent, "input.").size() == (rank == 0 ? list_names(all, "input.").size() : 0));
    for (const auto& [name, tensor] : sent) CHECK(of_all_ranks.emplace(name, tensor).second);
    if (rank == size - 1) CHECK(of_all_ranks.size() == all.size());
  }
}

TEST_CASE("judged: each rank is sent its own stages' weights, the first one the data, and nothing is sent twice") {
  for (const int size : {1, 3, 4}) {
    for (const Case& test_case : pipeline_cases()) check_judged(test_case, size);
    for (const Case& test_case : schedule_cases()) check_judged(test_case, size);
  }
}

TEST_CASE("judged: the model alone is sent whole, to the rank that runs it") {
  for (const Case& test_case : baseline_cases())
    CHECK(judged_inputs(test_case, {0, 4, 7}).tensors.size() == test_case.inputs({0, 4, 7}).tensors.size());
}

}  // namespace
}  // namespace lab::a5
