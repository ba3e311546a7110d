#include "common/page/result_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/page/html_page.h"
#include "common/plot/timeline_json.h"
#include "embedded/common/page/pages.h"

namespace lab::page {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostLines = 40;  // of an item, a check or the notes

std::string find_kind(Standing standing) {
  switch (standing) {
    case Standing::kRight: return "right";
    case Standing::kWrong: return "wrong";
    case Standing::kOpen: return "open";
  }
  return "";
}

constexpr std::size_t kMostBytes = 8000;  // of a text

std::string cut(const std::string& text) {
  return safe_text(text, kMostBytes);
}

/// Its first line, and the others as a block.
Json lines_and_blocks(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(texts.size(), kMostLines); ++i) {
    const std::string text = cut(texts[i]);
    const std::size_t end = std::min(text.find('\n'), text.size());
    list.push_back({{"line", text.substr(0, end)}, {"block", text.substr(std::min(end + 1, text.size()))}});
  }
  if (texts.size() > kMostLines)
    list.push_back({{"line", fmt::format("and {} more", texts.size() - kMostLines)}, {"block", ""}});
  return list;
}

/// The number of its drawing, which it adds; empty if it has none.
std::string add_drawing(const std::string& timeline, std::vector<std::string>& drawings) {
  const Json json = Json::parse(timeline, nullptr, false);
  if (timeline.empty() || json.is_discarded()) return "";
  try {
    drawings.push_back(plot::to_svg(plot::timeline_from_json(json)));
  } catch (const UsageError&) {  // by a lab's program that wrote something else: all but the picture is still of use
    return "";
  }
  return std::to_string(drawings.size() - 1);
}

Json make_json(const ShownCheck& check, std::vector<std::string>& drawings) {
  Json costs = Json::array();
  for (const ShownCost& cost : check.costs)
    costs.push_back({{"what", cost.what}, {"used", cost.used}, {"most", cost.most}, {"exceeded", cost.exceeded}});
  Json lines = Json::array();
  for (std::size_t i = 0; i < std::min(check.lines.size(), kMostLines); ++i) lines.push_back(cut(check.lines[i]));
  return {{"name", cut(check.name)},
          {"kind", find_kind(check.standing)},
          {"label", check.label},
          {"message", cut(check.message)},
          {"likely", cut(check.likely)},
          {"lines", lines},
          {"has_costs", !costs.empty()},
          {"costs", costs},
          {"drawing", add_drawing(check.timeline, drawings)}};
}

Json make_json(const ShownItem& item, std::size_t number, std::vector<std::string>& drawings) {
  Json checks = Json::array();
  for (const ShownCheck& check : item.checks) checks.push_back(make_json(check, drawings));
  return {{"id", cut(item.id)},
          {"anchor", fmt::format("item{}", number)},
          {"title", cut(item.title)},
          {"kind", find_kind(item.standing)},
          {"label", item.label},
          {"open", item.standing != Standing::kRight && !(item.findings.empty() && item.checks.empty())},
          {"marks", item.marks},
          {"out_of", item.out_of},
          {"remark", item.remark},
          {"short", item.short_text},
          {"findings", lines_and_blocks(item.findings)},
          {"checks", checks},
          {"right_checks", cut(fmt::format("{}", fmt::join(item.right_checks, ", ")))},
          {"hint", item.hint}};
}

}  // namespace

std::string to_html(const ResultPage& page) {
  std::vector<std::string> drawings;
  Json items = Json::array();
  for (const ShownItem& item : page.items) items.push_back(make_json(item, items.size() + 1, drawings));
  Json facts = Json::array();
  for (const ShownFact& fact : page.facts) facts.push_back({{"what", fact.what}, {"value", cut(fact.value)}});
  const Json values = {
      {"headline", cut(page.headline)},   {"title", cut(page.title)},
      {"warning", page.warning},          {"share_percent", static_cast<int>(100 * std::clamp(page.share, 0.0, 1.0))},
      {"has_marks", page.has_marks},      {"items", items},
      {"has_notes", !page.notes.empty()}, {"notes", lines_and_blocks(page.notes)},
      {"has_facts", !page.facts.empty()}, {"facts", facts}};
  return html_page(page.headline, embedded::kResultMustache, values, "", drawings);
}

}  // namespace lab::page
