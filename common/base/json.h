#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "common/api/errors.h"

// Structs as JSON: nlohmann's NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Type, fields...) makes an object of one, and
// LAB_JSON_ROW(Type, fields...) an array, where there are many. Each names the fields once, in the struct's namespace, and
// both writes and reads them.
namespace lab {

/// One line of text, also where strings are not UTF-8.
template <typename Value>
std::string json_text(const Value& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Parses what json_text() wrote.
/// Errors    UsageError: "expected WHAT: ...", which names a field that is missing
template <typename Value>
Value from_json_text(const std::string& text, const std::string& what) {
  try {
    return nlohmann::json::parse(text).get<Value>();
  } catch (const std::exception& failure) {
    throw UsageError(fmt::format("expected {}: {}", what, failure.what()));
  }
}

/// Unlike nlohmann's, takes neither 1.5 nor 1e300 for an integer.
template <typename Field>
void get_field(const nlohmann::json& json, Field& field) {
  if constexpr (std::is_integral_v<Field> && !std::is_same_v<Field, bool>) {
    if (!json.is_number_integer() || json != nlohmann::json(json.get<Field>()))
      throw UsageError("expected an integer in range, got " + json.dump());
  }
  json.get_to(field);
}

}  // namespace lab

#define LAB_JSON_ADD(field) row.push_back(from.field);
#define LAB_JSON_GET(field) lab::get_field(row.at(place++), to.field);
#define LAB_JSON_ROW(Type, ...)                                          \
  inline void to_json(nlohmann::json& row, const Type& from) {           \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(LAB_JSON_ADD, __VA_ARGS__)) \
  }                                                                      \
  inline void from_json(const nlohmann::json& row, Type& to) {           \
    std::size_t place = 0;                                               \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(LAB_JSON_GET, __VA_ARGS__)) \
  }
