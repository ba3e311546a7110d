#include <c10/core/GradMode.h>

#include "a9_collectives/chunks.h"
#include "common/api/errors.h"
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
                       "pieces: expected dimension 1 of [2, 5] to divide by 3, got 5; hint: an all-to-all cuts along "
                       "scatter_dim and joins along gather_dim",
                       ContractError);
  CHECK_THROWS_AS(pieces(at::zeros({2, 5}), 1, 0), ContractError);
}

TEST_CASE("a copy is copy_'s, whatever the strides and with or without gradients") {
  const at::Tensor square = at::arange(9, at::kDouble).reshape({3, 3});
  const at::Tensor imaginary = at::complex(square, square + 1);
  for (const at::Tensor& from : {square, square.t(), square.narrow(0, 1, 2).t(), square.narrow(0, 0, 0), square.sum(),
                                 imaginary, imaginary.conj(), at::imag(imaginary.conj())}) {
    for (const bool records : {true, false}) {
      const c10::AutoGradMode mode(records);
      const at::Tensor expected = from.clone();
      const at::Tensor to = at::zeros_like(from), inside = at::zeros({6, 6}, from.options());
      copy_into(from, to);
      CHECK(to.equal(expected));
      if (from.dim() < 2) continue;
      const at::Tensor columns = inside.narrow(0, 2, from.size(0)).narrow(1, 1, from.size(1));
      copy_into(from, columns);
      CHECK(columns.equal(expected));
      CHECK(at::real(inside).count_nonzero().item<std::int64_t>() <= from.numel());
    }
  }
  const at::Tensor conjugated = at::zeros({2}, at::kComplexDouble);
  copy_into(at::full({2}, c10::complex<double>(1, 2), at::kComplexDouble), conjugated.conj());
  CHECK(at::imag(conjugated.resolve_conj()).equal(at::full({2}, -2, at::kDouble)));
  CHECK_THROWS_WITH_AS(copy_into(at::zeros({2}), at::zeros({3})),
                       "a copy of float32 [2] to float32 [3]: expected the same", ContractError);
  CHECK_THROWS_AS(copy_into(at::zeros({2}), at::zeros({2}, at::kDouble)), ContractError);
}

TEST_CASE("a gradient passes through a copy") {
  const at::Tensor from = at::ones({3}).requires_grad_(), to = at::zeros({3});
  copy_into(from, to);
  to.mul(2).sum().backward();
  CHECK(from.grad().equal(at::full({3}, 2, at::kFloat)));
}

TEST_CASE("a new tensor to receive into has the shape, dtype and device, and memory of its own in order") {
  const at::Tensor like = at::zeros({2, 3}, at::kInt).t();
  const at::Tensor got = uninitialized({4, 0, 5}, like), full = uninitialized(like.sizes(), like);
  CHECK(got.sizes() == at::IntArrayRef({4, 0, 5}));
  CHECK(full.is_contiguous());
  CHECK(full.dtype() == at::kInt);
  CHECK_FALSE(full.is_alias_of(like));
  CHECK(uninitialized({2}, at::zeros({1}, at::kMeta)).is_meta());
  CHECK_FALSE(uninitialized({2}, at::ones({1}).requires_grad_()).requires_grad());
}

TEST_CASE("a row has the elements in order, and a tensor that needs gradients stays out of its sums") {
  const at::Tensor plain = at::arange(6, at::kFloat).reshape({2, 3}),
                   turned = at::arange(6, at::kFloat).reshape({3, 2}).t();
  for (const at::Tensor& tensor : {plain, turned, plain.view({-1})}) {
    const at::Tensor before = tensor.clone();
    const Row row(tensor);
    CHECK(row.elements().equal(before.reshape({-1})));
    CHECK(row.shaped().sizes() == tensor.sizes());
    row.shaped().add_(1);
    CHECK(row.elements().equal(before.reshape({-1}) + 1));
    CHECK(row.give_back().equal(before + 1));
    CHECK(tensor.equal(before + 1));
  }
  const at::Tensor leaf = at::ones({4}).requires_grad_();
  Row(leaf).elements().add_(1);
  CHECK(leaf.detach().equal(at::full({4}, 2, at::kFloat)));
  CHECK(detached(plain).is_same(plain));
  CHECK_FALSE(detached(leaf).requires_grad());
}

}  // namespace
}  // namespace lab::a9
