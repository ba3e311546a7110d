#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ledger_entry.h"
#include "common/tensor/tensor_map.h"

namespace lab {

/// What one rank has to say of one case: what the task returned there, never whether it is right.
struct CaseRecord {
  enum class State { kReturned, kThrew, kNotImplemented, kSkipped };

  std::string task;  ///< "a9.broadcast"
  std::string name;  ///< the case: "BroadcastFromLast"
  State state = State::kReturned;
  std::string words;               ///< what was thrown, or why it was skipped
  int exit_code = 0;               ///< of what was thrown
  std::string missing_task;        ///< kNotImplemented: the id in not_implemented(), such as "a9.allreduce"
  TensorMap results;               ///< undefined tensors stay undefined; on the CPU
  std::vector<LedgerEntry> spent;  ///< during the case, by operation
};

/// What a record says beside its tensors, as JSON in ASCII; words are shortened to 4000 characters.
std::string text_of_record(const CaseRecord& record, const std::vector<std::string>& undefined);

/// The reverse; names of undefined tensors are added to `undefined`. Words become one line each: they were written by
/// code nobody has to trust.
/// Errors    UsageError: what is missing, of another type, or unknown
CaseRecord record_from_text(const std::string& text, std::vector<std::string>& undefined);

/// Appends a record to a descriptor (a file in memory that the judge has made).
/// Errors    UsageError: cannot be written; a dtype that safetensors has not
void write_record(int descriptor, const CaseRecord& record);

/// The records of a descriptor that was written by code nobody has to trust: each is checked in full.
struct RecordsRead {
  std::vector<CaseRecord> records;  ///< up to the first that is broken
  std::string broken;               ///< what is wrong with what follows; empty: nothing follows
};
RecordsRead read_records(int descriptor, std::uint64_t max_bytes = 1u << 30);

/// A file that has no name and lives in memory, inherited by children.
/// Errors    UsageError: the system refuses
int make_record_file();

}  // namespace lab
