#include "common/page/html_page.h"

#include <fmt/format.h>

#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/base/text.h"
#include "embedded/common/page/pages.h"

namespace lab::page {
namespace {

using kainjow::mustache::data;

data make_data(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object: {
      data object(data::type::object);
      for (const auto& [name, member] : value.items()) {
        if (name.find('.') != std::string::npos) throw std::logic_error("a value with the name of a part: " + name);
        object.set(name, make_data(member));
      }
      return object;
    }
    case nlohmann::json::value_t::array: {
      data list(data::type::list);
      for (const nlohmann::json& element : value) list.push_back(make_data(element));
      return list;
    }
    case nlohmann::json::value_t::string: {
      const std::string text = safe_text(value.get_ref<const std::string&>(), std::string::npos);
      return text.empty() ? data(false) : data(text);
    }
    case nlohmann::json::value_t::boolean: return data(value.get<bool>());
    case nlohmann::json::value_t::null: return data(false);
    default: return data(value.dump());
  }
}

/// Mustache's other ways to insert a value would not escape it, or hide that they do not.
void check_tags(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("{{", at)) != std::string_view::npos; at += 2) {
    const std::size_t sign = text.find_first_not_of(' ', at + 2);
    if (sign != std::string_view::npos && std::string_view("{&=").find(text[sign]) != std::string_view::npos)
      throw std::logic_error("a template must not insert a value that is not escaped");
  }
}

}  // namespace

std::string filled_in(std::string_view text, const nlohmann::json& values, const Parts& parts) {
  check_tags(text);
  data all = make_data(values);
  for (const auto& [name, part] : parts) {
    if (name.find('.') == std::string::npos) throw std::logic_error("a part with the name of a value: " + name);
    check_tags(part);
    all.set(name, kainjow::mustache::partial([text_of_part = std::string(part)] { return text_of_part; }));
  }
  kainjow::mustache::mustache filled{std::string(text)};
  if (!filled.is_valid()) throw std::logic_error("a template is wrong: " + filled.error_message());
  return filled.render(all);
}

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
