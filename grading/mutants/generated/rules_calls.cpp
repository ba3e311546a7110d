#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grading/mutants/generated/rules.h"

namespace lab::grading::generated {
namespace {

/// A call of a function or a method.
struct Call {
  std::string name;
  std::size_t token = 0;           ///< of the name
  std::size_t begin = 0, end = 0;  ///< of the whole call, with the object or namespace that it is called on
  std::size_t object_end = 0;      ///< token of the . or -> in front of a method; 0: a function
  std::vector<std::pair<std::size_t, std::size_t>> arguments;
};

std::vector<Call> calls_in(const Region& region) {
  std::vector<Call> calls;
  const TokenizedText& text = region.text;
  for (std::size_t i = region.begin; i + 1 < region.end; ++i) {
    if (!text[i].is_name()) continue;
    const std::size_t open = after_template(text, i + 1);
    if (!text.is(open, "(") || text[open].begin != text[open - 1].end) continue;
    Call call;
    call.name = text.at(i);
    call.token = i;
    call.begin = operand_begin(text, i);
    call.end = text[open].partner + 1;
    if (i > 0 && (text.is(i - 1, ".") || text.is(i - 1, "->"))) call.object_end = i - 1;
    call.arguments = split_at_commas(text, open + 1, text[open].partner);
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string argument(const Region& region, const Call& call, std::size_t index) {
  return region.text.source(call.arguments[index].first, call.arguments[index].second);
}

bool is_type(std::string_view name) {
  return is_one_of(name, {"static_cast", "Tensor", "Slice", "Request", "size_t", "int64_t", "vector"});
}

}  // namespace

std::vector<Proposal> views_for_copies(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    const bool copy = is_one_of(call.name, {"clone", "contiguous", "detach"});
    if (copy && call.object_end != 0) propose(region, proposals, call.object_end, call.end, "");
    const bool fresh = is_one_of(call.name, {"empty_like", "zeros_like", "empty_columns"});
    if (fresh && !call.arguments.empty()) propose(region, proposals, call.begin, call.end, argument(region, call, 0));
    // add_() -> add(): the result is lost.
    if (call.object_end != 0 && call.name.size() > 1 && call.name.back() == '_')
      propose(region, proposals, call.token, call.token + 1, call.name.substr(0, call.name.size() - 1));
    // The reverse, in place of its first operand.
    if (call.object_end != 0 && is_one_of(call.name, {"add", "square", "exp", "softmax", "div", "mul"}))
      propose(region, proposals, call.token, call.token + 1, call.name + "_");
  }
  return proposals;
}

std::vector<Proposal> sums_for_means(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    if (call.name == "mean" && call.object_end != 0) propose(region, proposals, call.token, call.token + 1, "sum");
    if (call.name == "sum" && call.object_end != 0) propose(region, proposals, call.token, call.token + 1, "mean");
    if (call.name == "mse_loss" && call.arguments.size() == 2)
      propose(region, proposals, call.begin, call.end,
              fmt::format("torch::mse_loss({}, {}, at::Reduction::Sum)", argument(region, call, 0),
                          argument(region, call, 1)));
  }
  for (std::size_t i = region.begin; i + 2 < region.end; ++i) {
    if (region.text.is(i, "Reduction") && region.text.is(i + 2, "Sum"))
      propose(region, proposals, i + 2, i + 3, "Mean");
  }
  return proposals;
}

std::vector<Proposal> scaled_sums(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    const std::string whole = region.text.source(call.begin, call.end);
    if (is_one_of(call.name, {"all_reduce", "my_allreduce", "reduce_parallel", "reduce_from_region",
                              "reduce_within_region", "mse_loss", "mean"}))
      propose(region, proposals, call.begin, call.end, whole + ".mul_(2)");
    if (call.name == "all_reduce" && call.object_end != 0) {
      const std::string object = region.text.source(call.begin, call.object_end + 1);
      propose(region, proposals, call.begin, call.end, fmt::format("{}.div_({}size())", whole, object));
    }
    if (is_one_of(call.name, {"my_allreduce", "reduce_parallel", "reduce_from_region", "reduce_within_region"}) &&
        call.arguments.size() == 2)
      propose(region, proposals, call.begin, call.end,
              fmt::format("{}.div_({}.size())", whole, argument(region, call, 1)));
    if (is_one_of(call.name, {"add_", "sub_"}) && call.object_end != 0 && call.arguments.size() == 1) {
      const auto [begin, end] = call.arguments[0];
      propose(region, proposals, begin, end, fmt::format("({}) * 2", argument(region, call, 0)));
    }
  }
  return proposals;
}

std::vector<Proposal> other_calls(const Region& region) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> others = {
      {"min", {"max"}},
      {"max", {"min"}},
      {"maximum", {"minimum"}},
      {"amax", {"amin"}},
      {"front", {"back"}},
      {"back", {"front"}},
      {"pop_front", {"pop_back"}},
      {"rbegin", {"begin"}},
      {"rend", {"end"}},
      {"add_", {"copy_", "sub_"}},
      {"sub_", {"add_"}},
      {"mul_", {"div_"}},
      {"div_", {"mul_"}},
      {"copy_", {"add_"}},
      {"zero_", {"clone"}},
      {"all_reduce", {"all_gather"}},
      {"is_folded", {"has_guest"}},
      {"has_guest", {"is_folded"}},
      {"virtual_rank", {"partner"}},
      {"partner", {"virtual_rank"}},
      {"first_chunk", {"real_rank"}},
      {"real_rank", {"first_chunk"}},
      {"own", {"whole"}},
      {"whole", {"own"}},
      {"chunk", {"split"}},
      {"even_slice", {"uneven_slice"}},
      {"uneven_slice", {"even_slice"}},
      {"forward", {"backward"}},
      {"sqrt", {"exp"}},
      {"rsqrt", {"sqrt"}},
      {"broadcast_parallel", {"reduce_parallel"}},
      {"reduce_parallel", {"broadcast_parallel"}},
      {"copy_to_region", {"reduce_from_region", "reduce_within_region"}},
      {"reduce_from_region", {"copy_to_region", "reduce_within_region"}},
      {"reduce_within_region", {"reduce_from_region", "copy_to_region"}},
      {"to_own_heads", {"to_own_positions"}},
      {"to_own_positions", {"to_own_heads"}},
      {"ulysses_attention", {"ring_attention"}},
      {"emplace", {"insert_or_assign"}}};
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    const auto found = others.find(call.name);
    if (found == others.end()) continue;
    for (const std::string& other : found->second) propose(region, proposals, call.token, call.token + 1, other);
  }
  return proposals;
}

std::vector<Proposal> dropped_calls(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    if (is_type(call.name) || is_one_of(call.name, {"clone", "contiguous", "detach", "move"})) continue;
    const bool is_statement = [&] {
      const auto at = region.statement_at(call.begin, call.end);
      return at && region.statements[*at].kind == Statement::Kind::kExpression &&
             region.statements[*at].begin == call.begin && region.statements[*at].end == call.end + 1;
    }();
    if (call.object_end != 0 && !is_statement) propose(region, proposals, call.object_end, call.end, "");
    const bool takes_one = !call.arguments.empty() && !region.text.is(call.arguments[0].first, "[") &&
                           !region.text.is(call.arguments[0].first, "{");
    if (takes_one && !is_statement)
      propose(region, proposals, call.begin, call.end, fmt::format("({})", argument(region, call, 0)));
  }
  return proposals;
}

std::vector<Proposal> dropped_arguments(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    if (call.arguments.size() < 2) continue;
    const std::size_t last = call.arguments.size() - 1;
    // A text only names something in a message.
    if (region.text[call.arguments[last].first].kind == Token::Kind::kString) continue;
    propose(region, proposals, call.arguments[last - 1].second, call.arguments[last].second, "");
  }
  return proposals;
}

std::vector<Proposal> copies_for_moves(const Region& region) {
  std::vector<Proposal> proposals;
  for (const Call& call : calls_in(region)) {
    if (call.name == "move" && call.arguments.size() == 1)
      propose(region, proposals, call.begin, call.end, argument(region, call, 0));
  }
  return proposals;
}

}  // namespace lab::grading::generated
