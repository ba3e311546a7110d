#include "optC_model_parallel/model/images.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/api/errors.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"

// Which images a step sees, and in what form.
namespace lab::optc {
namespace {

using Order = std::vector<std::int64_t>;

/// Pixels that all differ from their neighbours, as far as bytes can.
Images few_images(std::int64_t num_images) {
  const at::Tensor pixels = at::arange(num_images * 3 * 32 * 32).remainder(251).to(at::kByte);
  return {pixels.view({num_images, 3, 32, 32}), at::arange(num_images).remainder(10)};
}

TEST_CASE("an epoch takes every image once") {
  for (const std::int64_t num_images : {0, 1, 2, 3, 64, 1000}) {
    Order order = epoch_order(num_images, 42, 0);
    Order all(static_cast<std::size_t>(num_images));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    std::sort(order.begin(), order.end());
    CHECK(order == all);
  }
}

TEST_CASE("the order follows from the numbers alone, and is the same everywhere") {
  CHECK(epoch_order(10, 42, 0) == Order{7, 9, 5, 0, 4, 2, 1, 8, 6, 3});
  CHECK(epoch_order(10, 42, 1) == Order{9, 0, 6, 2, 8, 5, 4, 7, 3, 1});
  CHECK(epoch_order(1000, 42, 3) == epoch_order(1000, 42, 3));
}

TEST_CASE("every epoch and seed has its own order") {
  CHECK(epoch_order(100, 42, 0) != epoch_order(100, 42, 1));
  CHECK(epoch_order(100, 42, 0) != epoch_order(100, 43, 0));
  CHECK(epoch_order(100, 42, 1) != epoch_order(100, 43, 0));
}

TEST_CASE("every order is equally likely") {
  // 4 images have 24 orders. The squared distance from 1,000 each, in units of its expectation, is about chi-squared
  // with 23 degrees of freedom: above 50 once in 1,000 seeds. The seed is fixed, so this passes always or never.
  std::vector<double> counts(256, 0.0);
  for (std::int64_t epoch = 0; epoch < 24'000; ++epoch) {
    const Order order = epoch_order(4, 7, epoch);
    counts[static_cast<std::size_t>(((order[0] * 4 + order[1]) * 4 + order[2]) * 4 + order[3])] += 1;
  }
  double chi_squared = 0;
  for (const double count : counts) {
    if (count > 0) chi_squared += (count - 1000) * (count - 1000) / 1000;
  }
  CHECK(std::count(counts.begin(), counts.end(), 0.0) == 256 - 24);
  CHECK(chi_squared < 50);
}

TEST_CASE("batches follow the order, and the last one has what is left") {
  const EpochBatches batches(130, 64, 42, 2);
  REQUIRE(batches.size() == 3);
  CHECK(batches.indices(0).size(0) == 64);
  CHECK(batches.indices(2).size(0) == 2);
  const at::Tensor all = at::cat({batches.indices(0), batches.indices(1), batches.indices(2)});
  CHECK(at::equal(all, at::tensor(epoch_order(130, 42, 2), at::kLong)));
}

TEST_CASE("an order of the caller's own, with an image that comes again") {
  const EpochBatches batches(at::tensor({3, 1, 3, 0, 3}, at::kLong), 2);
  REQUIRE(batches.size() == 3);
  CHECK(at::equal(batches.indices(1), at::tensor({3, 0}, at::kLong)));
  CHECK(at::equal(batches.indices(2), at::tensor({3}, at::kLong)));
}

TEST_CASE("the number of batches") {
  CHECK(num_batches(0, 64) == 0);
  CHECK(num_batches(1, 64) == 1);
  CHECK(num_batches(64, 64) == 1);
  CHECK(num_batches(65, 64) == 2);
  CHECK(num_batches(5085, 64) == 80);
}

TEST_CASE("batches that cannot be are refused") {
  CHECK_THROWS_AS(EpochBatches(10, 0, 42, 0), ContractError);
  CHECK_THROWS_AS(epoch_order(-1, 42, 0), ContractError);
  const EpochBatches batches(10, 4, 42, 0);
  CHECK_THROWS_AS(batches.indices(3), ContractError);
  CHECK_THROWS_AS(batches.indices(-1), ContractError);
}

TEST_CASE("pixels become numbers from -1 to 1, in the order asked for") {
  Images images = few_images(5);
  images.pixels[3].view(-1)[0] = 0;
  images.pixels[3].view(-1)[1] = 255;
  images.pixels[3].view(-1)[2] = 51;
  const at::Tensor x = normalized(images, at::tensor({4, 3}, at::kLong), at::kDouble);
  CHECK(x.sizes() == at::IntArrayRef({2, 3, 32, 32}));
  CHECK(x[1].view(-1)[0].item<double>() == -1.0);
  CHECK(x[1].view(-1)[1].item<double>() == 1.0);
  CHECK(x[1].view(-1)[2].item<double>() == (0.2 - 0.5) / 0.5);
  CHECK(at::equal(x[0], (images.pixels[4].to(at::kDouble) / 255 - 0.5) / 0.5));
}

TEST_CASE("a batch has the dtype asked for, and its images stay as they are") {
  const Images images = few_images(3);
  const at::Tensor before = images.pixels.clone();
  const at::Tensor x = normalized(images, at::tensor({0}, at::kLong), at::kFloat);
  CHECK((x.scalar_type() == at::kFloat));
  CHECK(at::equal(images.pixels, before));
}

TEST_CASE("labels go with their images") {
  const Images images = few_images(25);
  CHECK(at::equal(take_labels(images, at::tensor({13, 2, 24}, at::kLong)), at::tensor({3, 2, 4}, at::kLong)));
}

}  // namespace
}  // namespace lab::optc
