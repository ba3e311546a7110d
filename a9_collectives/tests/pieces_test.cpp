#include "a9_collectives/chunks.h"
#include "common/base/errors.h"
#include "common/testing/test.h"

namespace lab::a9 {
namespace {

TEST_CASE("a piece is narrow's: shape, values, memory") {
  const c10::NoGradGuard no_grad;
  const at::Tensor rows = at::arange(24).reshape({2, 3, 4});
  for (const at::Tensor& whole : {rows, rows.transpose(0, 2), rows.narrow(2, 1, 3), rows.narrow(0, 0, 0)}) {
    for (std::int64_t dim = -3; dim < 3; ++dim) {
      for (std::int64_t begin = 0; begin <= whole.size(dim); ++begin) {
        for (std::int64_t length = 0; begin + length <= whole.size(dim); ++length) {
          const at::Tensor expected = whole.narrow(dim, begin, length), got = piece(whole, dim, begin, length);
          CHECK(got.sizes() == expected.sizes());
          CHECK(got.strides() == expected.strides());
          CHECK(got.data_ptr() == expected.data_ptr());
          CHECK(got.is_alias_of(whole));
          CHECK(got.equal(expected));
        }
      }
    }
  }
}

TEST_CASE("a piece that is not all inside is refused") {
  const c10::NoGradGuard no_grad;
  const at::Tensor whole = at::zeros({4, 2});
  CHECK_THROWS_AS(piece(whole, 0, 3, 2), c10::Error);
  CHECK_THROWS_AS(piece(whole, 0, 5, 0), c10::Error);
  CHECK_THROWS_AS(piece(whole, 0, 0, -1), c10::Error);
  CHECK_THROWS_AS(piece(whole, 2, 0, 1), c10::Error);
  CHECK_THROWS_AS(piece(at::zeros({}), 0, 0, 1), c10::Error);
  CHECK(piece(whole, 0, -2, 2).sizes() == at::IntArrayRef({2, 2}));  // counted from the end
}

TEST_CASE("where gradients are recorded, a piece's is") {
  const at::Tensor whole = at::ones({4, 2}).requires_grad_();
  pieces(whole, 0, 2)[1].mul(3).sum().backward();
  CHECK(whole.grad().sum().item<double>() == 12);
  CHECK(whole.grad()[0].sum().item<double>() == 0);
}

TEST_CASE("pieces are equal, or refused") {
  const std::vector<at::Tensor> columns = pieces(at::arange(12).reshape({2, 6}), 1, 3);
  REQUIRE(columns.size() == 3);
  CHECK(columns[2].equal(at::tensor({4, 5, 10, 11}).reshape({2, 2})));
  CHECK_THROWS_WITH_AS(pieces(at::zeros({2, 5}), 1, 3),
                       "a dimension of 5 in 3 equal pieces: expected one that 3 divides", ContractError);
  CHECK_THROWS_AS(pieces(at::zeros({2, 5}), 1, 0), ContractError);
}

}  // namespace
}  // namespace lab::a9
