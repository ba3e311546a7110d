#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/base/files.h"
#include "common/base/worth.h"
#include "common/tensor/tensor_map.h"

namespace lab {

/// What one rank reports about one case: what the task returned there, not whether it is right.
struct CaseRecord {
  std::string task;                  ///< "a9.broadcast"
  std::string name;                  ///< the case: "BroadcastFromLast"
  CaseEnd end = CaseEnd::kReturned;  ///< that, kThrew or kNotImplemented
  std::string message;               ///< what was thrown
  int exit_code = 0;                 ///< of what was thrown
  std::string missing_task;          ///< kNotImplemented: the id in not_implemented(), such as "a9.allreduce"
  TensorMap results;                 ///< undefined tensors stay undefined; on the CPU
  std::vector<LedgerEntry> spent;    ///< during the case, by operation
  ResourceUse used;                  ///< the rank's own count
  SeenUse seen;                      ///< filled in by a judge; not part of the record's text
};

/// A record without its tensors, as JSON in ASCII; its message is cut to 4000 characters.
std::string text_of_record(const CaseRecord& record, const std::vector<std::string>& undefined);

/// The reverse; names of undefined tensors are added to `undefined`. Each text becomes a single line, as it was written
/// by untrusted code.
/// Errors    UsageError: a field is missing, of the wrong type, or unknown
CaseRecord record_from_text(const std::string& text, std::vector<std::string>& undefined);

/// A record with its tensors, as one file of safetensors.
/// Errors    UsageError: a dtype that safetensors does not have
std::string bytes_of_record(const CaseRecord& record);

/// The reverse, of bytes that untrusted code wrote.
/// Errors    UsageError: they are not a record
CaseRecord record_from_bytes(const std::string& bytes);

/// Appends a record to a descriptor (a file in memory that the judge has made).
/// Errors    UsageError: cannot be written; a dtype that safetensors does not have
void write_record(int descriptor, const CaseRecord& record);

/// The records that untrusted code wrote to a descriptor: each is checked in full.
struct RecordsRead {
  std::vector<CaseRecord> records;  ///< up to the first broken one
  std::string broken;               ///< what is wrong with what follows; empty: nothing follows
};
RecordsRead read_records(int descriptor, std::uint64_t max_bytes = 1u << 30);

/// An unnamed file in memory for each rank's records, inherited by children.
class RecordFiles {
 public:
  /// Errors    UsageError: a file cannot be created
  explicit RecordFiles(int num_ranks);

  /// By rank.
  const std::vector<int>& descriptors() const { return descriptors_; }
  /// In all files together.
  std::uint64_t num_bytes() const;
  /// By rank.
  std::vector<RecordsRead> read() const;

 private:
  std::vector<UniqueFd> files_;
  std::vector<int> descriptors_;
};

}  // namespace lab
