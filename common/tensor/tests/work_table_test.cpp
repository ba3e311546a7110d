#include "common/tensor/meters/work_table.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <set>

#include "common/testing/test.h"

namespace {

/// Operators of the table that LibTorch 1.13 does not have.
const std::set<std::string> kNewer = {
    "aten::_prelu_kernel",
    "aten::_prelu_kernel_backward",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_native_batch_norm_legit",
    "aten::_native_batch_norm_legit_no_training",
    "aten::_batch_norm_with_update",
    "aten::_batch_norm_no_update",
    "aten::batch_norm_backward",
};

}  // namespace

TEST_CASE("work table: its operators are LibTorch's") {
  std::set<std::string> known;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) known.insert(name.name);
  for (const lab::WorkRow& row : lab::work_table()) {
    if (row.name.back() == '_') continue;
    CAPTURE(row.name);
    // prelu_backward became _prelu_kernel_backward.
    const bool older = row.name == "aten::prelu_backward";
    CHECK((known.count(row.name) == 1 || kNewer.count(row.name) == 1 || older));
  }
}

TEST_CASE("work table: an operator is found by its whole name") {
  const auto name_at = [](const char* name) {
    const int row = lab::find_work_row(name);
    return row < 0 ? std::string() : lab::work_table()[static_cast<std::size_t>(row)].name;
  };
  CHECK(name_at("aten::mm") == "aten::mm");
  CHECK(name_at("aten::add_") == "aten::add_");
  for (const char* other : {"", "mm", "aten::", "aten::mmm", "aten::matmul", "aten::copy_", "aten::eq", "mine::mm"}) {
    CAPTURE(other);
    CHECK(lab::find_work_row(other) == -1);
  }
}
