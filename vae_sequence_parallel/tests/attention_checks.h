#pragma once

#include "vae_sequence_parallel/tests/attention_world.h"

// What must hold of ulysses_attention() and ring_attention() alike, as doctest assertions.
namespace lab::vae {

/// Output and gradients are those of one process, but for rounding.
void check_same(const AttentionCall& call, const AttentionData& data, const std::vector<std::int64_t>& lengths);

/// The same where exp() of a score is infinite or 0, and where the maximum grows from block to block.
void check_large_scores(const AttentionCall& call, std::int64_t heads, const std::vector<std::int64_t>& lengths);

/// Groups of ranks 3 1 and 2 0 4, at the same time, do not see each other. Calls with 6 heads.
void check_groups(const AttentionCall& call);

/// Between processes as between threads. Calls with 3 heads on 3 ranks.
void check_processes(const AttentionCall& call);

/// Shapes, dtypes and lengths that do not fit are refused on every rank before anything is sent.
void check_refusals(const AttentionCall& call);

/// Every rank must be refused, by a ContractError with this text in it, before it has sent anything.
void check_refused(int size, const std::string& text, const std::function<void(Communicator&)>& body);

/// Ranks that disagree on the lengths end with a contract error, not in a hang.
void check_disagreement(const AttentionCall& call);

}  // namespace lab::vae
