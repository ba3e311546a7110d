#pragma once

#include <string>

#include "common/base/errors.h"

namespace lab::pipeline {

/// The message with which the call refuses; empty where it does not. Other errors go through.
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
