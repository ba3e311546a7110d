#include "common/tensor/memory_account.h"

namespace lab {

MemoryAccount::MemoryAccount(MemoryAccount* outer) : outer_(outer) {
  if (outer_ != nullptr) outer_->hold();
}

void MemoryAccount::let_go() {
  MemoryAccount* account = this;
  while (account != nullptr && account->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    MemoryAccount* const outer = account->outer_;
    delete account;
    account = outer;
  }
}

void MemoryAccount::charge(int64_t bytes) {
  for (MemoryAccount* account = this; account != nullptr; account = account->outer_) {
    const int64_t now = account->current_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = account->peak_bytes();
    while (peak < now && !account->peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
}

void MemoryAccount::refund(int64_t bytes) {
  for (MemoryAccount* account = this; account != nullptr; account = account->outer_) {
    account->current_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

}  // namespace lab
