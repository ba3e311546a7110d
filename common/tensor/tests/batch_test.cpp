#include "common/tensor/batch.h"

#include "common/api/errors.h"
#include "common/testing/test.h"

TEST_CASE("create_batch: the handout's numbers, inputs before targets from one stream") {
  at::manual_seed(42);
  const at::Tensor inputs = at::randn({128, 64});
  const at::Tensor targets = at::randn({128, 32});
  const lab::Batch batch = lab::create_batch(128, 64, 32);
  CHECK(at::equal(batch.inputs, inputs));
  CHECK(at::equal(batch.targets, targets));
}

TEST_CASE("create_batch: the same on every call, another with another seed") {
  CHECK(at::equal(lab::create_batch(4, 8, 2, 1).inputs, lab::create_batch(4, 8, 2, 1).inputs));
  CHECK_FALSE(at::equal(lab::create_batch(4, 8, 2, 1).inputs, lab::create_batch(4, 8, 2, 2).inputs));
}

TEST_CASE("create_batch: an empty batch is valid, a negative size is not") {
  CHECK(lab::create_batch(0, 3, 2).targets.sizes() == at::IntArrayRef({0, 2}));
  CHECK_THROWS_WITH_AS(lab::create_batch(-1, 3, 2),
                       "A batch of -1 samples with 3 inputs and 2 outputs: no size may be negative.",
                       lab::ContractError);
}
