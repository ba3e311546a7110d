#include "common/tensor/meters/work_meter.h"

#include <ATen/Parallel.h>

#include <thread>
#include <vector>

#include "common/api/errors.h"
#include "common/tensor/tests/measure_work.h"

namespace {

using lab_test::ByOperator;
using lab_test::flops_in;
using lab_test::measure_work;
using lab_test::tracked;

}  // namespace

// First in the file: it needs a process without an installed meter.
TEST_CASE("work meter: before it is installed a scope is refused") {
  static bool first = true;
  if (first) CHECK_THROWS_AS(lab::WorkScope(), lab::ContractError);
  first = false;
  lab::install_work_meter();
  lab::install_work_meter();
  CHECK(flops_in([] { at::mm(at::ones({2, 3}), at::ones({3, 4})); }) == 48);
}

TEST_CASE("work meter: gradients that are accumulated are additions") {
  const at::Tensor x = tracked({10});
  const at::Tensor y = x * 3;
  y.backward(at::ones_like(y), true);
  CHECK(measure_work([&] { y.backward(at::ones_like(y)); }).by_operator ==
        ByOperator{{"aten::mul", 10}, {"aten::add_", 10}});
}

TEST_CASE("work meter: a meta tensor counts as others do") {
  CHECK(flops_in([] {
          at::mm(at::empty({1000, 2000}, at::kMeta), at::empty({2000, 3000}, at::kMeta));
        }) == 2ll * 1000 * 2000 * 3000);
}

TEST_CASE("work meter: an operator that throws leaves the meter in order") {
  CHECK(flops_in([] {
          CHECK_THROWS(at::layer_norm(at::ones({4, 6}), {5}));
          CHECK_THROWS(at::mm(at::ones({4, 6}), at::ones({5})));
        }) >= 0);
  CHECK(flops_in([] { at::ones({3}) + 1; }) == 3);
  const auto reading = measure_work([] {
    CHECK_THROWS(at::addmm(at::ones({7}), at::ones({2, 3}), at::ones({3, 4})));
    at::ones({3}) + 1;
  });
  CHECK(reading.by_operator.at("aten::add") == 3);
}

TEST_CASE("work meter: an inner scope counts in the outer one") {
  lab::install_work_meter();
  const lab::WorkScope outer;
  at::ones({3}) + 1;
  {
    const lab::WorkScope inner;
    at::ones({4}) * 2;
    CHECK(inner.reading().by_operator == ByOperator{{"aten::mul", 4}});
    CHECK(outer.flops() == 7);
  }
  at::ones({5}) * 2;
  CHECK(outer.reading().by_operator == ByOperator{{"aten::add", 3}, {"aten::mul", 9}});
}

TEST_CASE("work meter: uncounted work, and a scope inside it") {
  lab::install_work_meter();
  const lab::WorkScope scope;
  {
    const lab::UncountedWork not_mine;
    at::ones({3}) + 1;
    const lab::WorkScope inner;
    at::ones({4}) + 1;
    CHECK(inner.flops() == 4);
  }
  CHECK(scope.flops() == 0);
  at::ones({5}) + 1;
  CHECK(scope.flops() == 5);
}

TEST_CASE("work meter: threads are counted separately, their backward passes too") {
  lab::install_work_meter();
  const lab::WorkScope mine;
  std::vector<lab::WorkReading> readings(4);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < readings.size(); ++rank) {
    ranks.emplace_back([rank, &readings] {
      const lab::WorkScope scope;
      for (int round = 0; round < 50; ++round) {
        const at::Tensor weight = tracked({static_cast<std::int64_t>(rank) + 1, 5});
        const at::Tensor y = at::mm(at::ones({2, static_cast<std::int64_t>(rank) + 1}), weight);
        y.backward(at::ones_like(y));
      }
      readings[rank] = scope.reading();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (std::size_t rank = 0; rank < readings.size(); ++rank) {
    const auto products = 50 * 2 * 2 * 5 * (static_cast<std::int64_t>(rank) + 1);
    CHECK(readings[rank].by_operator == ByOperator{{"aten::mm", 2 * products}});
  }
  CHECK(mine.flops() == 0);
}

TEST_CASE("work meter: the same with several threads per operator") {
  const auto step = [] {
    const at::Tensor x = tracked({4, 8, 64, 64});
    const at::Tensor weight = tracked({16, 8, 3, 3});
    const at::Tensor y = at::silu(at::group_norm(at::conv2d(x, weight, {}, 1, 1), 4));
    (at::softmax(y.flatten(2), -1) * y.flatten(2)).mean().backward();
  };
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const lab::WorkReading one = measure_work(step);
  at::set_num_threads(2);
  const lab::WorkReading two = measure_work(step);
  at::set_num_threads(before);
  CHECK(one.flops > 2 * 3 * (4 * 16 * 64 * 64) * 8 * 9);
  CHECK(one.by_operator == two.by_operator);
}
