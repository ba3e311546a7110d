#include <set>

#include "common/testing/test.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/model/models.h"

// A judged rank is sent its own stage's or its own shards' weights, and of the images what its stage reads.
namespace lab::optc {
namespace {

constexpr std::uint64_t kSeed = 7;

/// The tensors "weight.<name>", by name.
TensorMap weights_in(const TensorMap& inputs) {
  TensorMap weights;
  for (const auto& [name, tensor] : inputs) {
    if (name.rfind("weight.", 0) == 0) weights[name.substr(7)] = tensor;
  }
  return weights;
}

std::set<std::string> list_names(const ModelSpec& layers) {
  std::set<std::string> names;
  for (const LayerSpec& layer : layers.layers) {
    for (const ParameterSpec& spec : layer.parameters) names.insert(spec.name);
  }
  return names;
}

bool is_poisoned(const at::Tensor& tensor) {
  return tensor.eq(tensor.scalar_type() == at::kByte ? 255 : std::numeric_limits<std::int64_t>::lowest())
      .all()
      .item<bool>();
}

/// Pixels on the first rank, labels on the last.
void check_images(const std::string& prefix, const TensorMap& all, const TensorMap& sent, const CasePlace& place) {
  const struct {
    const char* name;
    bool is_read;
  } parts[] = {{"pixels", place.rank == 0}, {"labels", place.rank == place.size - 1}};
  for (const auto& part : parts) {
    const at::Tensor &whole = all.at(prefix + part.name), &own = sent.at(prefix + part.name);
    CHECK(own.sizes() == whole.sizes());
    CHECK((part.is_read ? at::equal(own, whole) : is_poisoned(own)));
  }
}

void check_weights(const TensorMap& sent, const ModelSpec& layers) {
  const TensorMap weights = weights_in(sent), expected = named(layers, first_parameters(layers, kSeed, at::kDouble));
  CHECK(weights.size() == expected.size());
  for (const auto& [name, tensor] : weights) CHECK(at::equal(tensor, expected.at(name)));
}

TEST_CASE("judged: one batch in stages, each with its own layers, pixels on the first rank and labels on the last") {
  std::vector<Case> cases = schedule_cases();
  for (const std::vector<Case>& more : {gpipe_cases(), stale_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  for (const Case& test_case : cases) {
    if (test_case.name == "GpipeAlone") continue;
    CAPTURE(test_case.name);
    for (int rank = 0; rank < 3; ++rank) {
      CAPTURE(rank);
      const CasePlace place{rank, 3, kSeed};
      const CaseInputs all = test_case.inputs(place), sent = judged_inputs(test_case, place);
      check_images("input.", all.tensors, sent.tensors, place);
      check_weights(sent.tensors, layers_of_rank(chain_plan(3, static_cast<int>(all.integer("num_chunks"))), rank));
    }
  }
  for (const Case& test_case : stale_cases())
    CHECK(judged_inputs(test_case, {1, 3, kSeed}).tensor("input.order0").size(0) == 50);
}

TEST_CASE("judged: a training in stages, each with the layers that a split may give it") {
  const Case test_case = pipeline_training_case();
  const ModelSpec model = model_named("tutorial");
  for (int rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const CasePlace place{rank, 4, kSeed};
    const TensorMap all = test_case.inputs(place).tensors, sent = judged_inputs(test_case, place).tensors;
    check_images("input.train.", all, sent, place);
    check_images("input.test.", all, sent, place);
    check_weights(sent, take_part(model, {rank, 2}));  // 5 layers on 4 ranks
    for (const char* order : {"input.order0", "input.order1"})
      CHECK(at::equal(std::get<0>(sent.at(order).sort()), at::arange(104, at::kLong)));
  }
}

TEST_CASE("judged: a training in shards, with NaN in place of other ranks'") {
  for (const Case& test_case : tensor_training_cases()) {
    CAPTURE(test_case.name);
    const ModelSpec model = model_named(test_case.name == "TensorTraining"   ? "pair-norm"
                                        : test_case.name == "ResnetTraining" ? "resnet"
                                                                             : "vit");
    const TensorMap whole = named(model, first_parameters(model, kSeed, at::kDouble));
    for (int rank = 0; rank < 2; ++rank) {
      const TensorMap sent = judged_inputs(test_case, {rank, 2, kSeed}).tensors, weights = weights_in(sent);
      std::int64_t num_split = 0;
      for (const LayerSpec& layer : model.layers) {
        for (const ParameterSpec& spec : layer.parameters) {
          const at::Tensor& weight = weights.at(spec.name);
          CHECK(at::equal(take_shard(spec, weight, rank, 2), take_shard(spec, whole.at(spec.name), rank, 2)));
          CHECK(weight.isnan().sum().item<std::int64_t>() == (spec.split_dim < 0 ? 0 : weight.numel() / 2));
          num_split += spec.split_dim >= 0;
        }
      }
      CHECK(num_split > 0);
      CHECK(weights.size() == list_names(model).size());
      CHECK(sent.count("input.order1") == 1);
    }
  }
}

}  // namespace
}  // namespace lab::optc
