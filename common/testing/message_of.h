#pragma once

#include <functional>
#include <string>

#include "common/base/errors.h"

namespace lab::testing {

/// The message of the suite's error that the action throws.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace lab::testing
