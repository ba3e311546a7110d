#include "common/rank/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/api/errors.h"
#include "common/base/costs_json.h"
#include "common/base/text.h"
#include "common/tensor/files/safetensors.h"

namespace lab {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTextBytes = 4000;

constexpr std::array<std::pair<CaseEnd, const char*>, 3> kStates = {
    {{CaseEnd::kReturned, "returned"}, {CaseEnd::kThrew, "threw"}, {CaseEnd::kNotImplemented, "not implemented"}}};

const char* name_of_state(CaseEnd state) {
  for (const auto& [known, name] : kStates) {
    if (known == state) return name;
  }
  throw UsageError("a record of an unknown state cannot be written");
}

CaseEnd find_state(const std::string& text) {
  for (const auto& [state, name] : kStates) {
    if (text == name) return state;
  }
  throw UsageError(fmt::format("its state is unknown: '{}'", one_line(text.substr(0, 40))));
}

const json& find_field(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) throw UsageError(fmt::format("it has no '{}'", key));
  return object[key];
}

std::string text_at(const json& object, const char* key) {
  const json& value = find_field(object, key);
  if (!value.is_string()) throw UsageError(fmt::format("its '{}' is not a string", key));
  return one_line(value.get<std::string>().substr(0, kMostTextBytes));
}

std::int64_t count_at(const json& object, const char* key) {
  const json& value = find_field(object, key);
  if (!value.is_number_integer() || value < 0) throw UsageError(fmt::format("its '{}' is not an integer >= 0", key));
  return value.get<std::int64_t>();
}

/// No count is below 0.
ResourceUse used_at(const json& document) {
  try {
    const auto used = find_field(document, "used").get<ResourceUse>();
    const ModelTime& time = used.model_time;
    const std::int64_t least = std::min({used.flops, used.memory.peak_bytes, used.memory.retained_bytes, time.total,
                                         time.work, time.waiting, time.overhead});
    if (least < 0) throw UsageError(fmt::format("{} is below 0", least));
    return used;
  } catch (const std::exception& failure) {
    throw UsageError(fmt::format("its 'used' is not what a rank uses: {}", one_line(failure.what())));
  }
}

const json& list_at(const json& object, const char* key) {
  const json& value = find_field(object, key);
  if (!value.is_array()) throw UsageError(fmt::format("its '{}' is not a list", key));
  return value;
}

RankSet read_rank_set(const json& ranks) {
  constexpr int kMostRanks = 1 << 16;
  RankSet set;
  if (!ranks.is_array()) throw UsageError("its ledger has ranks that are not a list");
  for (const json& rank : ranks) {
    if (!rank.is_number_integer() || rank < 0 || rank >= kMostRanks)
      throw UsageError("its ledger has a rank that is not one");
    set.add(rank.get<int>());
  }
  return set;
}

LedgerEntry read_ledger_entry(const json& entry) {
  if (!entry.is_array() || entry.size() != 8 || !entry[0].is_string())
    throw UsageError("its ledger has an entry that is not an operation with five counts and two lists of ranks");
  std::array<std::uint64_t, 5> counts = {};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!entry[i + 1].is_number_unsigned()) throw UsageError("its ledger has a count that is not an integer >= 0");
    counts[i] = entry[i + 1].get<std::uint64_t>();
  }
  return {entry[0].get<std::string>(), counts[0], counts[1], counts[2], counts[3], counts[4], read_rank_set(entry[6]),
          read_rank_set(entry[7])};
}

constexpr std::uint64_t kMaxRecordHeaderBytes = 4u << 20;  // names, shapes and texts need less
constexpr std::int64_t kMostCalls = 100;
const char* const kRecordKey = "record";  // of the blob's metadata
constexpr int kVersion = 1;               // of a record's text
// What a record's text has, and no more.
constexpr std::array<const char*, 12> kFields = {"version",   "task",         "name",  "call", "state",     "message",
                                                 "exit_code", "missing_task", "spent", "used", "undefined", "repeated"};

/// The results without memory of their own: undefined ones, and names of others for the same tensor.
struct BareResults {
  std::vector<std::string> undefined;
  std::map<std::string, std::string> repeated;  ///< name -> of which one
};

std::string text_of_record(const CaseRecord& record, const BareResults& bare) {
  json spent = json::array();
  for (const LedgerEntry& entry : record.spent) {
    spent.push_back({entry.operation, entry.calls, entry.messages, entry.bytes_sent, entry.bytes_received, entry.rounds,
                     entry.destinations.ranks(), entry.sources.ranks()});
  }
  const json document = {{"version", kVersion},
                         {"task", record.task},
                         {"name", record.name},
                         {"call", record.call},
                         {"state", name_of_state(record.end)},
                         {"message", record.message.substr(0, kMostTextBytes)},
                         {"exit_code", record.exit_code},
                         {"missing_task", record.missing_task},
                         {"spent", spent},
                         {"used", record.used},
                         {"undefined", bare.undefined},
                         {"repeated", bare.repeated}};
  // The message of what was thrown may contain any bytes.
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

CaseRecord record_from_text(const std::string& text, BareResults& bare) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) throw UsageError("its text is not valid JSON");
  if (const std::int64_t version = count_at(document, "version"); version != kVersion)
    throw UsageError(fmt::format("its version is {}, expected {}", version, kVersion));
  for (const auto& [key, value] : document.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end())
      throw UsageError(fmt::format("it has an unknown field '{}'", one_line(key.substr(0, 40))));
  }
  CaseRecord record;
  record.task = text_at(document, "task");
  record.name = text_at(document, "name");
  record.call = static_cast<int>(std::min<std::int64_t>(count_at(document, "call"), kMostCalls));
  record.end = find_state(text_at(document, "state"));
  record.message = text_at(document, "message");
  record.missing_task = text_at(document, "missing_task");
  const json& exit_code = find_field(document, "exit_code");
  if (!exit_code.is_number_integer() || exit_code < 0 || exit_code > 255)
    throw UsageError("its exit code is not an integer from 0 to 255");
  record.exit_code = exit_code.get<int>();
  record.used = used_at(document);
  for (const json& entry : list_at(document, "spent")) record.spent.push_back(read_ledger_entry(entry));
  for (const json& name : list_at(document, "undefined")) {
    if (!name.is_string()) throw UsageError("its 'undefined' has a name that is not a string");
    bare.undefined.push_back(name.get<std::string>());
  }
  for (const auto& [name, other] : find_field(document, "repeated").items()) {
    if (!other.is_string()) throw UsageError("its 'repeated' has a name that is not a string");
    bare.repeated[name] = other.get<std::string>();
  }
  return record;
}

bool is_same_memory(const at::Tensor& one, const at::Tensor& other) {
  return one.data_ptr() == other.data_ptr() && one.sizes() == other.sizes() && one.strides() == other.strides() &&
         one.dtype() == other.dtype();
}

}  // namespace

CaseRecord record_from_bytes(const std::string& bytes) {
  SafetensorsContent content = from_safetensors(bytes, "a record", kMaxRecordHeaderBytes);
  const auto text = content.metadata.find(kRecordKey);
  if (text == content.metadata.end()) throw UsageError("a record without its text");
  BareResults bare;
  CaseRecord record = record_from_text(text->second, bare);
  for (const auto& [name, other] : bare.repeated) {
    const auto found = content.tensors.find(other);
    if (found == content.tensors.end())
      throw UsageError(fmt::format("its 'repeated' has an unknown result '{}'", one_line(other.substr(0, 40))));
    record.results.emplace(name, found->second);
  }
  record.results.merge(content.tensors);
  for (const std::string& name : bare.undefined) record.results.emplace(name, at::Tensor());
  return record;
}

std::string bytes_of_record(const CaseRecord& record) {
  TensorMap sent;
  BareResults bare;
  for (const auto& [name, tensor] : record.results) {
    if (!tensor.defined()) {
      bare.undefined.push_back(name);
      continue;
    }
    const auto same = std::find_if(sent.begin(), sent.end(), [&, &result = tensor](const auto& one) {
      return is_same_memory(one.second, result);
    });
    if (same == sent.end()) {
      sent[name] = tensor;
    } else {
      bare.repeated[name] = same->first;  // such as what a collective in place returns, and its argument
    }
  }
  return to_safetensors(sent, {{kRecordKey, text_of_record(record, bare)}});
}

}  // namespace lab
