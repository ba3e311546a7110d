#pragma once

#include <string>
#include <vector>

#include "common/lab/record.h"

namespace lab {

/// What a record says beside its tensors, as JSON in ASCII; words are shortened to 4000 characters.
std::string text_of_record(const CaseRecord& record, const std::vector<std::string>& undefined);

/// The reverse; names of undefined tensors are added to `undefined`. Words become one line each: they were written by
/// code nobody has to trust.
/// Errors    UsageError: what is missing, of another type, or unknown
CaseRecord record_from_text(const std::string& text, std::vector<std::string>& undefined);

}  // namespace lab
