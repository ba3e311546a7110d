#include "grading/batch/decisions.h"

#include <nlohmann/json.hpp>

namespace lab::grading {
namespace {

using Json = nlohmann::json;
constexpr const char* kMark = " decided ";

}  // namespace

std::string judging_with(const std::string& judging, const Decisions& decisions) {
  if (!decisions.any()) return judging;
  const Json decided = {{"accepted", decisions.accepted}, {"believes_ranks", decisions.believes_ranks}};
  return judging + kMark + decided.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Decisions decisions_in(const std::string& judging) {
  const std::size_t at = judging.find(kMark);
  if (at == std::string::npos) return {};
  const Json decided = Json::parse(judging.substr(at + std::string(kMark).size()), nullptr, false);
  if (!decided.is_object()) return {};
  return {decided.value("accepted", ""), decided.value("believes_ranks", false)};
}

}  // namespace lab::grading
