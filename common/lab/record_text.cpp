#include "common/lab/record_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/report/errors.h"
#include "common/report/one_line.h"

namespace lab {
namespace {

using nlohmann::json;
using RecordState = CaseRecord::State;

constexpr std::size_t kMostWordBytes = 4000;

constexpr std::array<std::pair<RecordState, const char*>, 4> kStates = {
    {{RecordState::kReturned, "returned"},
     {RecordState::kThrew, "threw"},
     {RecordState::kNotImplemented, "not implemented"},
     {RecordState::kSkipped, "skipped"}}};

const char* name_of_state(RecordState state) {
  for (const auto& [known, name] : kStates) {
    if (known == state) return name;
  }
  throw UsageError("a record of an unknown state cannot be written");
}

RecordState state_of(const std::string& text) {
  for (const auto& [state, name] : kStates) {
    if (text == name) return state;
  }
  throw UsageError(fmt::format("its state is unknown: '{}'", one_line(text.substr(0, 40))));
}

const json& field_of(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) throw UsageError(fmt::format("it has no '{}'", key));
  return object[key];
}

std::string words_at(const json& object, const char* key) {
  const json& value = field_of(object, key);
  if (!value.is_string()) throw UsageError(fmt::format("its '{}' is no text", key));
  return one_line(value.get<std::string>().substr(0, kMostWordBytes));
}

const json& list_at(const json& object, const char* key) {
  const json& value = field_of(object, key);
  if (!value.is_array()) throw UsageError(fmt::format("its '{}' is no list", key));
  return value;
}

LedgerEntry ledger_entry_of(const json& entry) {
  if (!entry.is_array() || entry.size() != 6 || !entry[0].is_string())
    throw UsageError("its ledger has an entry that is no operation with five counts");
  std::array<std::uint64_t, 5> counts = {};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!entry[i + 1].is_number_unsigned()) throw UsageError("its ledger has a count that is no whole number from 0");
    counts[i] = entry[i + 1].get<std::uint64_t>();
  }
  return {entry[0].get<std::string>(), counts[0], counts[1], counts[2], counts[3], counts[4]};
}

}  // namespace

std::string text_of_record(const CaseRecord& record, const std::vector<std::string>& undefined) {
  json spent = json::array();
  for (const LedgerEntry& entry : record.spent) {
    spent.push_back(
        {entry.operation, entry.calls, entry.messages, entry.bytes_sent, entry.bytes_received, entry.rounds});
  }
  const json document = {{"task", record.task},
                         {"name", record.name},
                         {"state", name_of_state(record.state)},
                         {"words", record.words.substr(0, kMostWordBytes)},
                         {"exit_code", record.exit_code},
                         {"missing_task", record.missing_task},
                         {"spent", spent},
                         {"undefined", undefined}};
  // What was thrown may hold any bytes.
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

CaseRecord record_from_text(const std::string& text, std::vector<std::string>& undefined) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) throw UsageError("its text is no JSON");
  CaseRecord record;
  record.task = words_at(document, "task");
  record.name = words_at(document, "name");
  record.state = state_of(words_at(document, "state"));
  record.words = words_at(document, "words");
  record.missing_task = words_at(document, "missing_task");
  const json& exit_code = field_of(document, "exit_code");
  if (!exit_code.is_number_integer() || exit_code < 0 || exit_code > 255)
    throw UsageError("its exit code is no whole number from 0 to 255");
  record.exit_code = exit_code.get<int>();
  for (const json& entry : list_at(document, "spent")) record.spent.push_back(ledger_entry_of(entry));
  for (const json& name : list_at(document, "undefined")) {
    if (!name.is_string()) throw UsageError("its 'undefined' has a name that is no text");
    undefined.push_back(name.get<std::string>());
  }
  return record;
}

}  // namespace lab
