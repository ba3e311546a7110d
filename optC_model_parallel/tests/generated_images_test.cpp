#include <string_view>

#include "common/api/errors.h"
#include "common/tensor/files/crc32.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/images.h"

// The replacement for real images: the same bytes everywhere, and something to learn.
namespace lab::optc {
namespace {

std::uint32_t checksum(const at::Tensor& tensor) {
  return crc32({static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()});
}

/// The share of test images that are nearest to the mean training image of their own class.
double nearest_mean_accuracy(const Dataset& data) {
  std::vector<at::Tensor> means;
  for (std::int64_t label = 0; label < kNumClasses; ++label) {
    const at::Tensor of_class = at::nonzero(data.train.labels == label).view(-1);
    means.push_back(data.train.pixels.index_select(0, of_class).to(at::kFloat).mean(0).view(-1));
  }
  const at::Tensor test = data.test.pixels.to(at::kFloat).flatten(1);
  const at::Tensor nearest = at::cdist(test, at::stack(means)).argmin(1);
  return (nearest == data.test.labels).to(at::kDouble).mean().item<double>();
}

TEST_CASE("the bytes are the same on every machine") {
  const Dataset data = generated_images(20, 10, 42);
  int num_batches = 0;
  generated_images(2050, 1030, 42, [&] { ++num_batches; });
  CHECK(num_batches == 3);
  CHECK(checksum(data.train.pixels) == 0xB41D5AB2);
  CHECK(checksum(data.train.labels) == 0xF2886E18);
  CHECK(checksum(data.test.pixels) == 0x3F5D091E);
  CHECK(checksum(generated_images(20, 0, 43).train.pixels) == 0x76844658);
}

TEST_CASE("the shapes and types of CIFAR-10") {
  const Dataset data = generated_images(3, 0, 1);
  CHECK((data.train.pixels.scalar_type() == at::kByte));
  CHECK((data.train.labels.scalar_type() == at::kLong));
  CHECK(data.train.pixels.sizes() == at::IntArrayRef({3, 3, 32, 32}));
  CHECK(data.test.pixels.sizes() == at::IntArrayRef({0, 3, 32, 32}));
  CHECK(data.test.size() == 0);
  CHECK_THROWS_AS(generated_images(-1, 0, 1), ContractError);
}

TEST_CASE("fewer images are the first of more") {
  const Dataset few = generated_images(10, 20, 5);
  const Dataset more = generated_images(30, 25, 5);
  CHECK(at::equal(few.train.pixels, more.train.pixels.narrow(0, 0, 10)));
  CHECK(at::equal(few.train.labels, more.train.labels.narrow(0, 0, 10)));
  CHECK(at::equal(few.test.pixels, more.test.pixels.narrow(0, 0, 20)));
}

TEST_CASE("no image comes twice, in training, in testing, or with another seed") {
  const Dataset data = generated_images(300, 300, 42);
  const Dataset other = generated_images(300, 0, 43);
  const at::Tensor all = at::cat({data.train.pixels, data.test.pixels, other.train.pixels}).to(at::kFloat).flatten(1);
  const at::Tensor distances = at::cdist(all, all).fill_diagonal_(1e9);
  // Noise alone keeps two images of the same plan this far apart: 3,072 pixels, each off by about 24.
  CHECK(distances.min().item<double>() > 500);
}

TEST_CASE("all classes, about equally often") {
  const at::Tensor counts = at::bincount(generated_images(2000, 0, 42).train.labels, {}, 10);
  CHECK(counts.numel() == 10);
  CHECK(counts.min().item<int>() > 150);  // 200 expected, +- 13
  CHECK(counts.max().item<int>() < 250);
}

TEST_CASE("pixels alone say something about the class, but not enough") {
  const double accuracy = nearest_mean_accuracy(generated_images(1500, 500, 42));
  CHECK(accuracy > 0.3);
  CHECK(accuracy < 0.6);
}

}  // namespace
}  // namespace lab::optc
