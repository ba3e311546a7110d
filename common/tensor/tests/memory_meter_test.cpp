#include "common/tensor/meters/memory_meter.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

#include "common/api/errors.h"
#include "common/testing/test.h"

// First in the file: it needs a process without an installed meter.
TEST_CASE("memory meter: before it is installed a scope is refused; tensors from before survive it") {
  static bool first = true;
  if (first) CHECK_THROWS_AS(lab::MemoryScope(), lab::ContractError);
  first = false;
  at::Tensor before = at::ones({1000});
  lab::install_memory_meter();
  lab::install_memory_meter();
  lab::MemoryScope scope;
  CHECK(before.sum().item<float>() == 1000);
  const int64_t current = scope.reading().retained_bytes;
  before = at::Tensor();
  CHECK(scope.reading().retained_bytes == current);
}

TEST_CASE("memory meter: current and peak are the tensors' bytes, exactly") {
  lab::install_memory_meter();
  lab::MemoryScope scope;
  CHECK(scope.reading().retained_bytes == 0);
  at::Tensor a = at::empty({1000});
  at::Tensor b = at::empty({500}, at::kDouble);
  CHECK(scope.reading().retained_bytes == 8000);
  a = at::Tensor();
  CHECK(scope.reading().retained_bytes == 4000);
  CHECK(scope.reading().peak_bytes == 8000);
  const at::Tensor c = at::empty({3}, at::kByte);
  CHECK(scope.reading().retained_bytes == 4003);
  CHECK(scope.reading().peak_bytes == 8000);
  scope.reset_peak();
  CHECK(scope.reading().peak_bytes == 4003);
}

TEST_CASE("memory meter: temporaries raise the peak; views and from_blob cost nothing") {
  lab::install_memory_meter();
  lab::MemoryScope scope;
  at::Tensor a = at::zeros({256});
  scope.reset_peak();
  a = (a + a) * a;
  CHECK(scope.reading().retained_bytes == 1024);
  CHECK(scope.reading().peak_bytes == 3072);
  scope.reset_peak();
  const at::Tensor view = a.view({16, 16}).t();
  float outside[8] = {};
  const at::Tensor blob = at::from_blob(outside, {8});
  CHECK(scope.reading().peak_bytes == 1024);
}

TEST_CASE("memory meter: an empty tensor costs nothing, and storage can grow") {
  lab::install_memory_meter();
  lab::MemoryScope scope;
  at::Tensor tensor = at::empty({0});
  CHECK(scope.reading().retained_bytes == 0);
  tensor.resize_({100});
  CHECK(scope.reading().retained_bytes == 400);
  tensor.fill_(3);
  tensor.resize_({200});
  CHECK(tensor.slice(0, 0, 100).sum().item<float>() == 300);
  CHECK(scope.reading().retained_bytes == 800);
}

TEST_CASE("memory meter: blocks are as aligned as LibTorch's own") {
  lab::install_memory_meter();
  std::vector<at::Tensor> tensors;
  for (int64_t size = 1; size < 200; ++size) {
    tensors.push_back(at::empty({size}, at::kByte));
    CHECK(reinterpret_cast<uintptr_t>(tensors.back().data_ptr()) % 64 == 0);
  }
}

TEST_CASE("memory meter: threads are counted separately, even when they run at once") {
  lab::install_memory_meter();
  lab::MemoryScope mine;
  std::vector<lab::MemoryUse> readings(4);
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < readings.size(); ++rank) {
    ranks.emplace_back([rank, &readings] {
      lab::MemoryScope scope;
      for (int round = 0; round < 500; ++round) {
        const at::Tensor kept = at::empty({static_cast<int64_t>(rank) + 1}, at::kDouble);
        const at::Tensor more = at::empty({100}, at::kByte);
      }
      readings[rank] = scope.reading();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (size_t rank = 0; rank < readings.size(); ++rank) {
    CHECK(readings[rank].retained_bytes == 0);
    CHECK(readings[rank].peak_bytes == static_cast<int64_t>(8 * (rank + 1) + 100));
  }
  CHECK(mine.reading().peak_bytes == 0);
}

TEST_CASE("memory meter: a free on another thread is charged to the owner") {
  lab::install_memory_meter();
  lab::MemoryScope mine;
  at::Tensor tensor = at::empty({1000});
  lab::MemoryUse other;
  std::thread([&] {
    lab::MemoryScope scope;
    tensor = at::Tensor();
    other = scope.reading();
  }).join();
  CHECK(mine.reading().retained_bytes == 0);
  CHECK(mine.reading().peak_bytes == 4000);
  CHECK(other.retained_bytes == 0);
}

TEST_CASE("memory meter: a tensor may outlive its scope and its thread") {
  lab::install_memory_meter();
  at::Tensor survivor;
  std::thread([&] {
    lab::MemoryScope scope;
    survivor = at::ones({10});
  }).join();
  lab::MemoryScope mine;
  CHECK(survivor.sum().item<float>() == 10);
  const int64_t before = mine.reading().retained_bytes;
  survivor = at::Tensor();
  CHECK(mine.reading().retained_bytes == before);
}

TEST_CASE("memory meter: an inner scope counts in the outer one, also after its end") {
  lab::install_memory_meter();
  lab::MemoryScope outer;
  const at::Tensor a = at::empty({100}, at::kByte);
  at::Tensor b;
  {
    lab::MemoryScope inner;
    b = at::empty({50}, at::kByte);
    CHECK(inner.reading().retained_bytes == 50);
    CHECK(outer.reading().retained_bytes == 150);
  }
  CHECK(outer.reading().retained_bytes == 150);
  b = at::Tensor();
  CHECK(outer.reading().retained_bytes == 100);
  CHECK(outer.reading().peak_bytes == 150);
  const at::Tensor c = at::empty({7}, at::kByte);
  CHECK(outer.reading().retained_bytes == 107);
}

TEST_CASE("memory meter: a tensor of an inner scope may outlive both scopes") {
  lab::install_memory_meter();
  at::Tensor survivor;
  {
    lab::MemoryScope outer;
    lab::MemoryScope inner;
    survivor = at::ones({10});
  }
  CHECK(survivor.sum().item<float>() == 10);
}

TEST_CASE("memory meter: an impossible size is LibTorch's error and leaves the count as it was") {
  lab::install_memory_meter();
  lab::MemoryScope scope;
  CHECK_THROWS(c10::GetCPUAllocator()->allocate(std::numeric_limits<size_t>::max() - 10));
  CHECK_THROWS(c10::GetCPUAllocator()->allocate(size_t{1} << 63));
  CHECK(scope.reading().peak_bytes == 0);
}

TEST_CASE("memory meter: the raw interface, which convolutions use") {
  lab::install_memory_meter();
  lab::MemoryScope scope;
  void* block = c10::GetCPUAllocator()->raw_allocate(128);
  std::memset(block, 1, 128);
  CHECK(scope.reading().retained_bytes == 128);
  c10::GetCPUAllocator()->raw_deallocate(block);
  CHECK(scope.reading().retained_bytes == 0);
  const at::Tensor picture = at::ones({1, 8, 32, 32});
  const at::Tensor kernel = at::ones({16, 8, 3, 3});
  scope.reset_peak();
  const int64_t before = scope.reading().retained_bytes;
  const at::Tensor result = at::conv2d(picture, kernel, {}, 1, 1);
  CHECK(result[0][0][5][5].item<float>() == 72);
  CHECK(scope.reading().retained_bytes == before + 16 * 32 * 32 * 4);
}

TEST_CASE("memory meter: a scope with a limit refuses what it cannot hold, and nothing is held of it") {
  lab::install_memory_meter();
  const lab::MemoryScope limited(4096);
  const at::Tensor first = at::empty({512});
  CHECK_THROWS_WITH_AS(at::empty({513}), "cannot allocate 0.0 MB: 0.0 MB of tensors are held, at most 0.0 MB may be",
                       lab::MemoryLimitError);
  CHECK(limited.reading().retained_bytes == 2048);
  CHECK(at::empty({512}).numel() == 512);
  {
    const lab::MemoryScope inner;
    CHECK_THROWS_AS(first + at::empty({512}), lab::MemoryLimitError);
    const lab::UnchargedScope elsewhere;
    CHECK(at::empty({100000}).numel() == 100000);
  }
  CHECK(limited.reading().retained_bytes == 2048);
}

TEST_CASE("memory meter: unwritten tensors are large in a scope that asks for it, and in scopes inside it") {
  lab::install_memory_meter();
  const lab::MemoryScope spoils(lab::MemoryScope::kAnyBytes, lab::MemoryScope::Fresh::kGarbage);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const at::Tensor unwritten = at::empty({33}, dtype).to(at::kDouble);
    CHECK((unwritten.gt(6e4) & unwritten.isfinite()).all().item<bool>());
  }
  CHECK(at::empty({3}, at::kLong).eq(0x7B7B7B7B7B7B7B7B).all().item<bool>());
  CHECK(at::zeros({33}).eq(0).all().item<bool>());
  const lab::MemoryScope inner;
  CHECK(at::empty({33}).gt(1e36).all().item<bool>());
}

TEST_CASE("memory meter: a product ignores unwritten memory where beta is 0") {
  lab::install_memory_meter();
  const lab::MemoryScope spoils(lab::MemoryScope::kAnyBytes, lab::MemoryScope::Fresh::kGarbage);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const std::int64_t size : {2, 12}) {  // small ones have a kernel of their own
      const at::Tensor a = at::ones({3, size, size}, dtype);
      const auto right = [&](const at::Tensor& product) { return product.eq(size).all().item<bool>(); };
      CHECK(right(at::baddbmm(at::empty({3, size, size}, dtype), a, a, 0)));
      CHECK(right(at::baddbmm(at::zeros({1}, dtype), a, a, 0)));
      CHECK(right(at::addmm(at::empty({size, size}, dtype), a[0], a[0], 0)));
      CHECK(right(at::addbmm(at::empty({size, size}, dtype), a, a, 0).div(3)));
    }
  }
}
