#include "a4_data_tensor/step.h"
#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab::a4 {
namespace {

TEST_CASE("create_batch: the handout's numbers, inputs before targets from one stream") {
  at::manual_seed(42);
  const at::Tensor inputs = at::randn({128, 64});
  const at::Tensor targets = at::randn({128, 32});
  const Batch batch = create_batch({});
  CHECK(at::equal(batch.inputs, inputs));
  CHECK(at::equal(batch.targets, targets));
}

TEST_CASE("create_batch: the same on every call, another with another seed") {
  const StepOptions options = {4, 8, 2, 0.5, /*seed=*/1}, other = {4, 8, 2, 0.5, /*seed=*/2};
  CHECK(at::equal(create_batch(options).inputs, create_batch(options).inputs));
  CHECK_FALSE(at::equal(create_batch(options).inputs, create_batch(other).inputs));
}

TEST_CASE("create_batch: an empty batch is valid, a negative size is not") {
  CHECK(create_batch({0, 3, 2}).targets.sizes() == at::IntArrayRef({0, 2}));
  CHECK_THROWS_WITH_AS(create_batch({-1, 3, 2}),
                       "A batch of -1 samples with 3 inputs and 2 outputs: no size may be negative.", ContractError);
}

}  // namespace
}  // namespace lab::a4
