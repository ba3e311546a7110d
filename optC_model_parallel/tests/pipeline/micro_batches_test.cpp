#include "optC_model_parallel/micro_batches.h"

#include <cmath>

#include "common/tensor/seeded.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"

namespace lab::optc {
namespace {

std::vector<std::int64_t> cut_sizes(std::int64_t batch_size, std::int64_t count) {
  std::vector<std::int64_t> sizes;
  for (const Slice& slice : micro_batches(batch_size, count)) sizes.push_back(slice.size);
  return sizes;
}

TEST_CASE("micro_batches: as even as can be, and always as many as asked for") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(cut_sizes(29, 4) == Sizes{8, 7, 7, 7});
  CHECK(cut_sizes(2, 4) == Sizes{1, 1, 0, 0});
  CHECK(cut_sizes(64, 1) == Sizes{64});
  CHECK(testing::get_message([] { micro_batches(8, 0); }) == "micro_batches: expected at least 1 micro-batch, got 0");
}

TEST_CASE("micro_batch_loss: an image counts by the batch, not by its micro-batch") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor loss = micro_batch_loss(at::zeros({1, 10}, dtype), at::zeros({1}, at::kLong), 4);
    CHECK((loss.scalar_type() == dtype));
    CHECK(loss.dim() == 0);
    CHECK(loss.item<double>() == doctest::Approx(std::log(10.0) / 4));
    CHECK(micro_batch_loss(at::zeros({0, 10}, dtype), at::zeros({0}, at::kLong), 4).item<double>() == 0);
  }
}

/// Loss and gradients of a model on 2 images, in the given number of micro-batches.
std::vector<at::Tensor> in_pieces(const ModelSpec& model, at::ScalarType dtype, std::int64_t count) {
  const Images images = random_images(2, 5);
  const Parameters weights = first_parameters(model, 1, dtype);
  at::Tensor sum = at::zeros({}, dtype);
  for (const Slice& slice : micro_batches(2, count)) {
    const at::Tensor indices = at::arange(slice.begin, slice.end(), at::kLong);
    const at::Tensor x = normalized(images, indices, dtype).requires_grad_();
    const at::Tensor loss =
        micro_batch_loss(run_layers(model, weights, x, Mode::kTraining), take_labels(images, indices), 2);
    loss.backward();
    CHECK(x.grad().sizes() == x.sizes());
    sum = sum + loss.detach();
  }
  std::vector<at::Tensor> results = {sum};
  for (const at::Tensor& weight : learning(model, weights)) results.push_back(weight.grad());
  return results;
}

TEST_CASE("an empty micro-batch goes through every pipeline model, forward and backward, and changes nothing") {
  for (const std::string& name : pipeline_model_names()) {
    CAPTURE(name);
    const ModelSpec model = model_named(name);
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      const std::vector<at::Tensor> two = in_pieces(model, dtype, 2), five = in_pieces(model, dtype, 5);
      REQUIRE(two.size() == five.size());
      for (std::size_t i = 0; i < two.size(); ++i) CHECK(two[i].equal(five[i]));
    }
  }
}

}  // namespace
}  // namespace lab::optc
