#pragma once

#include <string>

#include "common/base/errors.h"

namespace lab::pipeline {

/// The message of the Refusal that the call throws; empty: it throws none. Other errors pass through.
template <typename Refusal, typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Refusal& error) {
    return error.what();
  }
  return "";
}

}  // namespace lab::pipeline
