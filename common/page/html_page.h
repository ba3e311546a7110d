#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lab::page {

/// A page of its own: one file that needs nothing else, neither network nor a web server; light and dark, also to be
/// printed. `body` is a template (template.h) of what is in it, and `script` the page's JavaScript, if any.
/// Errors    as filled_in()
std::string html_page(const std::string& title, std::string_view body, nlohmann::json values,
                      std::string_view script = "");

}  // namespace lab::page
