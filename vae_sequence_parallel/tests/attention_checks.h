#pragma once

#include "vae_sequence_parallel/tests/attention_world.h"

// Properties of both ulysses_attention() and ring_attention(), as doctest assertions.
namespace lab::vae {

/// Output and gradients equal those of one process, up to rounding.
void check_same(const AttentionCall& call, const AttentionData& data, const std::vector<std::int64_t>& lengths);

/// The same if exp() of a score is infinite or 0, and if the maximum grows from block to block.
void check_large_scores(const AttentionCall& call, std::int64_t heads, const std::vector<std::int64_t>& lengths);

/// Groups of ranks 3 1 and 2 0 4 do not affect each other when they run at the same time. Calls with 6 heads.
void check_groups(const AttentionCall& call);

/// Between processes as between threads. Calls with 3 heads on 3 ranks.
void check_processes(const AttentionCall& call);

/// Mismatched shapes, dtypes and lengths are rejected on every rank before anything is sent.
void check_refusals(const AttentionCall& call);

/// Every rank must throw a ContractError that contains this text, before it has sent anything.
void check_refused(int size, const std::string& text, const std::function<void(Communicator&)>& body);

/// Ranks that disagree on the lengths end with a contract error and do not hang.
void check_disagreement(const AttentionCall& call);

}  // namespace lab::vae
