#include "common/tensor/shape_check.h"

#include "common/base/errors.h"
#include "common/testing/test.h"

TEST_CASE("check: the right shape, wildcards and an undefined tensor pass") {
  const at::Tensor x = at::zeros({32, 64, 10});
  CHECK_NOTHROW(lab::check(x, {32, 64, 10}));
  CHECK_NOTHROW(lab::check(x, {32, -1, 10}));
  CHECK_NOTHROW(lab::check(x, {0, 0, 0}));
  CHECK_NOTHROW(lab::check(at::zeros({}), {}));
  CHECK_NOTHROW(lab::check(at::Tensor(), {1, 2}));
}

TEST_CASE("check: the handout's messages") {
  const at::Tensor x = at::zeros({32, 64, 10});
  CHECK_THROWS_WITH_AS(lab::check(x, {32, 64}),
                       "SHAPE GUARD: Expected shape length 2 but got 3 with shape [32, 64, 10].", lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::check(x, {-1, 128, 11}),
                       "SHAPE GUARD: At dimension 1: expected 128, but got 64 (actual shape: [32, 64, 10]).",
                       lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::check(at::zeros({}), {1}), "SHAPE GUARD: Expected shape length 1 but got 0 with shape [].",
                       lab::ContractError);
}

TEST_CASE("check: an empty tensor is not a wildcard") {
  CHECK_THROWS_AS(lab::check(at::zeros({0, 4}), {1, 4}), lab::ContractError);
  CHECK_NOTHROW(lab::check(at::zeros({0, 4}), {-1, 4}));
}
