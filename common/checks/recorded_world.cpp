#include "common/checks/recorded_world.h"

namespace lab {

const CaseRecord* RecordedWorld::find(int rank, const Case& test_case) const {
  const std::vector<CaseRecord>& records = by_rank[static_cast<std::size_t>(rank)];
  const auto found = std::find_if(records.begin(), records.end(), [&](const CaseRecord& record) {
    return record.task == test_case.task && record.name == test_case.name;
  });
  return found == records.end() ? nullptr : &*found;
}

bool RecordedWorld::came_through(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    if (!is_asked(test_case, rank)) continue;
    const CaseRecord* record = find(rank, test_case);
    if (record == nullptr || record->state == CaseRecord::State::kThrew) return false;
  }
  return true;
}

bool RecordedWorld::some_rank_left(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    const CaseRecord* record = find(rank, test_case);
    if (!is_asked(test_case, rank) || (record != nullptr && record->state != CaseRecord::State::kThrew)) return true;
  }
  return false;
}

CaseVerdict RecordedWorld::judged(const Case& test_case, std::uint64_t seed) const {
  std::vector<std::optional<CaseRecord>> records(by_rank.size());
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    if (const CaseRecord* record = find(static_cast<int>(rank), test_case)) records[rank] = *record;
  }
  return judge_case(test_case, static_cast<int>(by_rank.size()), seed, records);
}

}  // namespace lab
