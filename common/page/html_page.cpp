#include "common/page/html_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/page/template.h"
#include "embedded/common/page/pages.h"

namespace lab::page {

std::string html_page(const std::string& title, std::string_view body, nlohmann::json values, std::string_view script,
                      const std::vector<std::string>& drawings) {
  values["page_title"] = title;
  std::string page = filled_in(embedded::kLayoutMustache, values,
                               {{"style.css", embedded::kStyleCss}, {"body.mustache", body}, {"script.js", script}});
  std::size_t at = 0;
  for (std::size_t i = 0; i < drawings.size(); ++i) {
    const std::string place = fmt::format("<!--drawing {}-->", i);
    at = page.find(place, at);
    if (at == std::string::npos) throw std::logic_error("a page without a place for one of its drawings");
    page.replace(at, place.size(), drawings[i]);
    at += drawings[i].size();
  }
  return page;
}

}  // namespace lab::page
