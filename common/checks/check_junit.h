#pragma once

#include <string>

#include "common/base/junit_xml.h"

namespace lab {

/// What check_json() says of a lab's tasks, as a suite with a test for each check: "a9.broadcast: BroadcastFromLast". One
/// that is wrong or costs too much is a failure, one that ended its world an error, each with the lines of check_text().
/// The checks of a task that reached its TODO are failures, too: reporters treat skipped tests as harmless, but an
/// unimplemented task must not look right.
JunitSuite junit_suite(const std::string& lab, const std::string& json);

}  // namespace lab
