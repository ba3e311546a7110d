#include "common/page/html_page.h"

#include <nlohmann/json.hpp>

#include "common/page/template.h"
#include "embedded/common/page/pages.h"

namespace lab::page {

std::string html_page(const std::string& title, std::string_view body, nlohmann::json values, std::string_view script) {
  values["page_title"] = title;
  return filled_in(embedded::kLayoutMustache, values,
                   {{"style.css", embedded::kStyleCss}, {"body.mustache", body}, {"script.js", script}});
}

}  // namespace lab::page
