#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "grading/mutants/generated/rules.h"

namespace lab::grading::generated {
namespace {

/// A call without arguments: "p2p.rank()", "fold.power()".
struct Getter {
  std::size_t begin = 0, end = 0;  ///< tokens
  std::string object;              ///< "p2p.", "comm->"
  std::string name;                ///< "rank"
};

std::vector<Getter> getters(const Region& region) {
  std::vector<Getter> found;
  const TokenizedText& text = region.text;
  for (std::size_t i = region.begin + 1; i + 2 < region.end; ++i) {
    if (!text[i].is_name() || !text.is(i + 1, "(") || text[i + 1].partner != i + 2) continue;
    if (!text.is(i - 1, ".") && !text.is(i - 1, "->")) continue;
    const std::size_t begin = operand_begin(text, i + 2);
    found.push_back({begin, i + 3, text.source(begin, i), std::string(text.at(i))});
  }
  return found;
}

bool is_communicator(const std::string& object) {
  static constexpr std::array<const char*, 6> kNames = {"p2p", "p2p_", "comm", "comm_", "collectives", "collectives_"};
  std::string name = object.substr(0, object.find_last_not_of(".->") + 1);
  name = name.substr(name.find_last_of(".>") == std::string::npos ? 0 : name.find_last_of(".>") + 1);
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool is_ranks_name(std::string_view name) {
  return is_one_of(name, {"rank", "self", "pp_rank", "place", "virtual_rank", "stage"});
}
bool is_sizes_name(std::string_view name) {
  return is_one_of(name, {"size", "pp_size", "num_ranks", "num_stages"});
}

/// Tokens at which the value of an integer variable is used.
std::vector<std::size_t> integers_used(const Region& region) {
  std::vector<std::size_t> used;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    if (is_variable(region.text, i) && is_integer_type(region.type_of(region.text.at(i), i))) used.push_back(i);
  }
  return used;
}

/// Whether a token is only read: neither the left side of an assignment nor counted up.
bool is_read(const Region& region, std::size_t i) {
  const TokenizedText& text = region.text;
  const bool changed = text.is(i + 1, "=") || text.is(i + 1, "+=") || text.is(i + 1, "-=") || text.is(i + 1, "*=") ||
                       text.is(i + 1, "/=") || text.is(i + 1, "++") || text.is(i + 1, "--") ||
                       (i > 0 && (text.is(i - 1, "++") || text.is(i - 1, "--")));
  return !changed;
}

/// The name in front of a call's (, over template arguments.
std::string_view function_called_at(const TokenizedText& text, std::size_t open) {
  std::size_t i = open - 1;
  if (text.is(i, ">")) {
    while (i > 0 && !text.is(i, "<")) --i;
    if (i > 0) --i;
  }
  return text.at(i);
}

/// Whether the order of a function's arguments is of no importance.
bool is_symmetric(std::string_view function) {
  return is_one_of(function, {"mse_loss", "max", "min", "maximum", "overlap", "transpose"});
}

}  // namespace

std::vector<Proposal> other_ranks(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Getter& one : getters(region)) {
    if (one.name == "rank" && is_communicator(one.object)) {
      for (const char* with : {"0", "(({0}rank() + 1) % {0}size())", "({0}size() - 1 - {0}rank())"})
        propose(region, proposals, one.begin, one.end, fmt::format(fmt::runtime(with), one.object));
    } else if (is_one_of(one.name, {"virtual_rank", "partner"})) {
      for (const char* with : {"0", "({0}{1}() + 1)", "({0}{1}() - 1)"})
        propose(region, proposals, one.begin, one.end, fmt::format(fmt::runtime(with), one.object, one.name));
    }
  }
  for (const std::size_t i : integers_used(region)) {
    if (is_ranks_name(region.text.at(i)) && is_read(region, i)) propose(region, proposals, i, i + 1, "0");
  }
  return proposals;
}

std::vector<Proposal> other_sizes(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Getter& one : getters(region)) {
    const std::string call = one.object + one.name + "()";
    if (one.name == "size" && is_communicator(one.object)) {
      for (const char* with : {"({} - 1)", "({} + 1)", "4", "1"})
        propose(region, proposals, one.begin, one.end, fmt::format(fmt::runtime(with), call));
    } else if (is_one_of(one.name, {"size", "power", "count", "number_of_micro_batches", "numel"})) {
      for (const char* with : {"({} - 1)", "({} + 1)"})
        propose(region, proposals, one.begin, one.end, fmt::format(fmt::runtime(with), call));
    }
  }
  for (const std::size_t i : integers_used(region)) {
    if (is_sizes_name(region.text.at(i)) && is_read(region, i)) propose(region, proposals, i, i + 1, "4");
  }
  return proposals;
}

std::vector<Proposal> other_neighbours(const Region& region) {
  static const std::map<std::string, std::string, std::less<>> others = {{"left", "right"},
                                                                         {"right", "left"},
                                                                         {"src_rank", "dst_rank"},
                                                                         {"dst_rank", "src_rank"},
                                                                         {"before", "next"},
                                                                         {"next", "before"},
                                                                         {"src", "dst"},
                                                                         {"dst", "src"},
                                                                         {"peer", "rank"},
                                                                         {"kept", "given"},
                                                                         {"given", "kept"},
                                                                         {"have", "lacking"},
                                                                         {"lacking", "have"},
                                                                         {"first", "last"},
                                                                         {"last", "first"},
                                                                         {"from_peer", "to_peer"},
                                                                         {"to_peer", "from_peer"},
                                                                         {"scatter_dim", "gather_dim"},
                                                                         {"gather_dim", "scatter_dim"}};
  std::vector<Proposal> proposals;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    if (!is_variable(region.text, i) || !is_read(region, i)) continue;
    const auto other = others.find(region.text.at(i));
    if (other == others.end() || region.type_of(other->second, i).empty()) continue;
    propose(region, proposals, i, i + 1, other->second);
  }
  return proposals;
}

std::vector<Proposal> shifted_indices(const Region& region) {
  std::vector<Proposal> proposals;
  for (const std::size_t i : integers_used(region)) {
    if (!is_read(region, i)) continue;
    for (const char* with : {"({} + 1)", "({} - 1)"})
      propose(region, proposals, i, i + 1, fmt::format(fmt::runtime(with), region.text.at(i)));
  }
  // A slice's begin and size.
  for (std::size_t i = region.begin + 1; i < region.end; ++i) {
    const bool member = region.text.is(i - 1, ".") && !region.text.is(i + 1, "(") &&
                        (region.text.is(i, "begin") || region.text.is(i, "size"));
    if (!member) continue;
    const std::size_t begin = operand_begin(region.text, i);
    for (const char* with : {"({} + 1)", "({} - 1)"})
      propose(region, proposals, begin, i + 1, fmt::format(fmt::runtime(with), region.text.source(begin, i + 1)));
  }
  return proposals;
}

std::vector<Proposal> other_variables(const Region& region) {
  constexpr std::size_t kMostOthers = 2;
  std::vector<Proposal> proposals;
  for (std::size_t i = region.begin; i < region.end; ++i) {
    if (!is_variable(region.text, i)) continue;
    const std::string type = region.type_of(region.text.at(i), i);
    if (type.empty() || type == "auto") continue;
    std::vector<Declared> others;
    for (const Declared& one : region.declared) {
      const bool same = one.type == type || (is_integer_type(one.type) && is_integer_type(type));
      if (same && one.token < i && one.name != region.text.at(i)) others.push_back(one);
    }
    std::sort(others.begin(), others.end(), [](const Declared& a, const Declared& b) { return a.token > b.token; });
    others.resize(std::min(others.size(), kMostOthers));
    for (const Declared& one : others) propose(region, proposals, i, i + 1, one.name);
  }
  return proposals;
}

std::vector<Proposal> swapped_arguments(const Region& region) {
  std::vector<Proposal> proposals;
  const TokenizedText& text = region.text;
  for (std::size_t i = region.begin + 1; i < region.end; ++i) {
    const bool call =
        text.is(i, "(") && text[i].begin == text[i - 1].end && (text[i - 1].is_name() || text.is(i - 1, ">"));
    const bool list = text.is(i, "{") && (text.is(i - 1, "return") || text.is(i - 1, "=") || text.is(i - 1, "("));
    if (!call && !list) continue;
    if (is_symmetric(function_called_at(text, i))) continue;
    const auto arguments = split_at_commas(text, i + 1, text[i].partner);
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      // Neighbours; and what two messages of one call have in common.
      for (const std::size_t b : {a + 1, a + 2}) {
        if (b >= arguments.size() || (b == a + 2 && !text.is(i - 1, "sendrecv"))) continue;
        const auto [begin_a, end_a] = arguments[a];
        const auto [begin_b, end_b] = arguments[b];
        const std::string between = text.text().substr(text[end_a - 1].end, text[begin_b].begin - text[end_a - 1].end);
        propose(region, proposals, begin_a, end_b, text.source(begin_b, end_b) + between + text.source(begin_a, end_a));
      }
    }
  }
  return proposals;
}

}  // namespace lab::grading::generated
