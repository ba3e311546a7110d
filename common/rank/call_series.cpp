#include "common/rank/call_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

namespace lab {
namespace {

/// Null: the tensor has no memory.
const void* bound_memory(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().data() : nullptr;
}

TensorMap copy_each(const TensorMap& tensors) {
  TensorMap copies;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.defined()) copies[name] = tensor.detach().clone(at::MemoryFormat::Contiguous);
  }
  return copies;
}

bool has_same_bits(const at::Tensor& now, const at::Tensor& then) {
  if (now.sizes() != then.sizes() || now.dtype() != then.dtype()) return false;
  const at::Tensor here = now.detach().cpu().contiguous(), before = then.cpu();
  return here.nbytes() == 0 || std::memcmp(here.data_ptr(), before.data_ptr(), here.nbytes()) == 0;
}

/// The name of the first tensor that has changed; empty: none.
std::string changed_since(const TensorMap& now, const TensorMap& then) {
  for (const auto& [name, tensor] : then) {
    if (!has_same_bits(now.at(name), tensor)) return name;
  }
  return "";
}

const char* ordinal(std::size_t index) {
  constexpr const char* kOrdinals[] = {"first", "second", "third"};
  return kOrdinals[std::min<std::size_t>(index, 2)];
}

}  // namespace

CallSeries::CallSeries() : outer_(memory_owner()), account_(memory_owner()) {
  set_memory_owner(outer_);
}

void CallSeries::run(const std::function<void()>& body) const {
  struct Owner {
    explicit Owner(MemoryAccount* account) : outer(memory_owner()) { set_memory_owner(account); }
    ~Owner() { set_memory_owner(outer); }
    MemoryAccount* const outer;
  };
  const Owner owner(account_);
  body();
}

std::int64_t CallSeries::add(const TensorMap& inputs, const TensorMap& results, bool is_last) {
  require_untouched();
  require_own_memory(results);
  calls_.push_back({inputs, results, {}, {}});
  if (!is_last) {
    calls_.back().inputs_then = copy_each(inputs);
    calls_.back().results_then = copy_each(results);
  }
  const std::int64_t before = retained_bytes_;
  retained_bytes_ = made_.reading().retained_bytes - bytes_of_results();
  return std::max<std::int64_t>(0, retained_bytes_ - before);
}

void CallSeries::require_untouched() const {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const std::string result = changed_since(calls_[i].results, calls_[i].results_then);
    if (!result.empty())
      throw ResultError(fmt::format("the {} call changes result '{}' of the {}, expected results of its own",
                                    ordinal(calls_.size()), result, ordinal(i)));
    const std::string input = changed_since(calls_[i].inputs, calls_[i].inputs_then);
    if (!input.empty())
      throw ResultError(
          fmt::format("the {} call changes '{}', which the {} was given", ordinal(calls_.size()), input, ordinal(i)));
  }
}

void CallSeries::require_own_memory(const TensorMap& results) const {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    std::set<const void*> given = {nullptr};
    for (const auto& [name, tensor] : calls_[i].inputs) given.insert(bound_memory(tensor));
    for (const auto& [name, tensor] : results) {
      if (given.count(bound_memory(tensor)) != 0) continue;
      for (const auto& [other, earlier] : calls_[i].results) {
        if (bound_memory(earlier) != bound_memory(tensor)) continue;
        throw ResultError(
            fmt::format("result '{}' of the {} call is in the memory of the {} call's '{}', expected a new tensor",
                        name, ordinal(calls_.size()), ordinal(i), other));
      }
    }
  }
}

/// Of the storages that results refer to and inputs do not, each once.
std::int64_t CallSeries::bytes_of_results() const {
  std::set<const void*> counted = {nullptr};
  for (const Call& call : calls_) {
    for (const auto& [name, tensor] : call.inputs) counted.insert(bound_memory(tensor));
  }
  std::int64_t bytes = 0;
  for (const Call& call : calls_) {
    for (const auto& [name, tensor] : call.results) {
      if (counted.insert(bound_memory(tensor)).second) bytes += static_cast<std::int64_t>(tensor.storage().nbytes());
    }
  }
  return bytes;
}

}  // namespace lab
