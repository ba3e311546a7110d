#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lab::page {

/// A page of its own: one file that needs nothing else, neither network nor a web server; light and dark, also to be
/// printed. `body` is a template (template.h) of what is in it, and `script` the page's JavaScript, if any. Where it has
/// the comment "drawing {{i}}", which no value can look like, there is drawings[i] instead, an <svg> element.
/// Errors    as filled_in()
std::string html_page(const std::string& title, std::string_view body, nlohmann::json values,
                      std::string_view script = "", const std::vector<std::string>& drawings = {});

}  // namespace lab::page
