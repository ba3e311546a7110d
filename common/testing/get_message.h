#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/api/errors.h"

namespace lab::testing {

/// The message of the error of this kind that the action throws.
template <typename Expected = Error>
std::string get_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lab::testing
