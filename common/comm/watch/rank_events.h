#pragma once

#include <memory>
#include <vector>

#include "common/comm/watch/event_file.h"
#include "common/comm/watch/event_layout.h"

namespace lab::comm {

/// The writer of one rank's pages; keeps `file` mapped while it lives.
std::unique_ptr<RankEvents> make_rank_events(std::shared_ptr<void> file, event_layout::RankPages& pages);

/// A consistent snapshot of the pages. After some failed attempts (the rank changes too fast, or died in the middle of
/// a change) what was read is returned as incomplete and waiting for nothing: good for a report, not for a proof.
RankState read_rank(const event_layout::RankPages& pages, std::uint64_t* num_changes);

/// The kept events, oldest first: "posted send of 4 KiB to rank 1, tag 0 (a.cpp:41)".
std::vector<std::string> read_last_events(const event_layout::RankPages& pages);

}  // namespace lab::comm
