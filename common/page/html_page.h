#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lab::page {

/// Parts that a template may include, by name: other templates, style sheets, scripts. All of them are this suite's own
/// text. Their names have a dot in them, those of values have none.
using Parts = std::map<std::string, std::string_view>;

/// Fills in a Mustache template. {{name}} becomes the value of that name, which may be anything: it is made safe
/// (safe_text()) and escaped for HTML, also within an attribute; {{#name}}...{{/name}} is repeated for each element of an
/// array, and left out for false, null and an empty text or array; {{^name}}...{{/name}} is the reverse; {{> name}} includes a part. What would not be
/// escaped ({{{name}}}, {{&name}}) is refused.
/// Errors    std::logic_error: it is not such a template; names that do not fit
/// Source    https://mustache.github.io/mustache.5.html; kainjow::mustache, which is used here only
std::string filled_in(std::string_view text, const nlohmann::json& values, const Parts& parts = {});

/// A page of its own: one file that needs nothing else, neither network nor a web server; light and dark, also to be
/// printed. `body` is a template of what is in it, and `script` the page's JavaScript, if any. Where it has
/// the comment "drawing {{i}}", which no value can look like, there is drawings[i] instead, an <svg> element.
/// Errors    as filled_in()
std::string html_page(const std::string& title, std::string_view body, nlohmann::json values,
                      std::string_view script = "", const std::vector<std::string>& drawings = {});

}  // namespace lab::page
