#include "common/plot/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"

// Lengths are in px, from the top left corner.
namespace lab::plot {
namespace {

constexpr double kFontPx = 12, kSmallPx = 11, kLinePx = 18;
constexpr double kBox = 36;              // the height of a box, where there is room for it
constexpr double kLeastRow = 10;         // the least distance of two ranks' lines
constexpr double kMostHeight = 1600;     // of a clock's rows, if that leaves them kLeastRow
constexpr std::size_t kMostHeads = 400;  // more arrow heads would merge into black bars
constexpr std::size_t kMostBytes = 400;  // of a text
constexpr Colour kPathColour{0xC8102E};
constexpr Colour kGridColour{0xDDDDDD};

/// In em, of DejaVu Sans, the widest of the fonts that "sans-serif" may stand for.
double letter_width(unsigned char c) {
  if (c >= 0x80) return (c & 0xC0) == 0x80 ? 0 : 0.8;  // the first byte of a UTF-8 sequence counts for all
  if (std::string_view("iljtfrI.,:;'|!()[] ").find(static_cast<char>(c)) != std::string_view::npos) return 0.39;
  if (std::string_view("mwMW%@").find(static_cast<char>(c)) != std::string_view::npos) return 0.96;
  return c >= 'A' && c <= 'Z' ? 0.73 : 0.63;
}

std::string escaped(std::string_view text) {
  std::string safe = one_line(safe_text(text, kMostBytes));
  for (const auto& [sign, entity] : {std::pair("&", "&amp;"),
                                     {"<", "&lt;"},
                                     {">", "&gt;"},
                                     {"\"", "&quot;"},
                                     {"\xEF\xBF\xBE", "\xEF\xBF\xBD"},
                                     {"\xEF\xBF\xBF", "\xEF\xBF\xBD"}})  // not in XML
    replace_all(safe, sign, entity);
  return safe;
}

std::string hex(Colour colour) {
  return fmt::format("#{:06X}", colour.rgb & 0xFFFFFF);
}

double choose_unit(double seconds) {
  for (const double unit : {1.0, 1e-3, 1e-6}) {
    if (seconds >= unit) return unit;
  }
  return 1e-9;
}

/// The least of 1, 2 and 5 times a power of ten that leaves at most `most` steps.
double choose_step(double length, double most) {
  const double power = std::pow(10, std::floor(std::log10(length / most)));
  for (const double factor : {1, 2, 5}) {
    if (length / (factor * power) <= most) return factor * power;
  }
  return 10 * power;
}

struct Rectangle {
  double left = 0, right = 0, top = 0, bottom = 0;
};

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

class Drawing {
 public:
  explicit Drawing(const Timeline& timeline) : timeline_(timeline) {
    check();
    bool has_arrows = false;
    for (const Clock& clock : timeline.clocks) has_arrows = has_arrows || !clock.arrows.empty();
    const double row = kBox + (has_arrows ? 28 : 8), num_ranks = std::max(1, timeline.num_ranks);
    row_ = std::max(kLeastRow, std::min(row, kMostHeight / num_ranks));
    box_ = kBox * row_ / row;
    left_ = 20 + text_width(fmt::format("rank {}", timeline.num_ranks - 1), kFontPx);
    inner_ = timeline.width_px > 0 ? timeline.width_px : fitting_width();
    width_ = left_ + inner_ + 24;
    for (const Clock& clock : timeline.clocks)
      width_ = std::max(width_, 24 + text_width(clock.title.substr(0, kMostBytes), kFontPx));
    width_ = std::max(width_, 24 + text_width(timeline.title.substr(0, kMostBytes), kFontPx + 2));
    if (timeline.width_px <= 0) inner_ = width_ - left_ - 24;
  }

  std::string svg() {
    double y = 12;
    if (!timeline_.title.empty()) text(12, y += 14, timeline_.title, "font-size=\"14\" font-weight=\"bold\"");
    for (const Clock& clock : timeline_.clocks) {
      if (!clock.title.empty()) text(12, y += kLinePx + 4, clock.title);
      top_ = y + 30;
      draw(clock);
      y = top_ + row_ * timeline_.num_ranks + 4;
    }
    y = legend(y) + 10;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "role=\"img\" aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"{3}\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{4}</svg>\n",
        width_, y, escaped(timeline_.title), kFontPx, svg_);
  }

 private:
  void check() const {
    const auto refuse = [&](const std::string& what) {
      throw UsageError(fmt::format("timeline '{}': {}", timeline_.title, what));
    };
    constexpr int kMostRanks = 10000;
    if (timeline_.num_ranks < 0 || timeline_.num_ranks > kMostRanks)
      refuse(fmt::format("{} ranks; expected at most {}", timeline_.num_ranks, kMostRanks));
    const auto check_rank = [&](int rank) {
      if (rank < 0 || rank >= timeline_.num_ranks) refuse(fmt::format("rank {} of {}", rank, timeline_.num_ranks));
    };
    const auto check_time = [&](double start, double end) {
      constexpr double kMost = 1e12;
      if (!(start >= -kMost && end >= start && end <= kMost))
        refuse(fmt::format("a time from {:g} s to {:g} s; expected finite ones in this order", start, end));
    };
    for (const Clock& clock : timeline_.clocks) {
      for (const Box& box : clock.boxes) {
        check_rank(box.rank);
        check_time(box.start, box.end);
      }
      const auto check_all = [&](const auto& list) {
        for (const auto& one : list) {
          check_rank(one.src_rank);
          check_rank(one.dst_rank);
          check_time(one.start, one.end);
        }
      };
      check_all(clock.arrows);
      check_all(clock.path);
      for (const double mark : clock.marks) check_time(mark, mark);
      for (const TimeLabel& label : clock.labels) check_time(label.at, label.at);
    }
  }

  /// Sets the time that the current clock shows: its content's, and zero.
  void fit(const Clock& clock) {
    from_ = to_ = 0;
    const auto include = [&](const auto& list) {
      for (const auto& one : list) {
        from_ = std::min(from_, one.start);
        to_ = std::max(to_, one.end);
      }
    };
    include(clock.boxes);
    include(clock.arrows);
    include(clock.path);
    if (timeline_.width_px > 0) to_ = std::max(to_, timeline_.width_px);
    if (to_ <= from_) to_ = from_ + 1e-6;
    to_ = std::max(to_, from_ + 1e-12);
  }

  /// So that three of four names fit their boxes, and arrows do not lie on each other, if the page allows.
  double fitting_width() {
    constexpr double kLeast = 680, kMost = 2400;
    double width = kLeast;
    for (const Clock& clock : timeline_.clocks) {
      fit(clock);
      std::vector<double> wanted;
      for (const Box& box : clock.boxes) {
        if (box.end > box.start && !box.name.empty())
          wanted.push_back((text_width(box.name, kFontPx) + 6) * (to_ - from_) / (box.end - box.start));
      }
      std::map<int, int> arrows_to;
      for (const Arrow& arrow : clock.arrows) width = std::max(width, 30.0 * ++arrows_to[arrow.dst_rank]);
      if (wanted.empty()) continue;
      const auto third = wanted.begin() + static_cast<std::ptrdiff_t>(wanted.size() * 3 / 4);
      std::nth_element(wanted.begin(), third, wanted.end());
      width = std::max(width, *third);
    }
    return std::min(width, kMost);
  }

  double x(double seconds) const { return left_ + (seconds - from_) / (to_ - from_) * inner_; }
  double y(int rank) const { return top_ + row_ * (rank + 0.5); }

  void text(double x, double y, std::string_view text, const std::string& attributes = "") {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
  }

  void line(double x0, double y0, double x1, double y1, const std::string& attributes) {
    svg_ +=
        fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x0, y0, x1, y1, attributes);
  }

  std::string titled(const std::string& title, double start, double end, const Clock& clock) const {
    if (title.empty()) return "";
    if (!clock.labels.empty()) return "<title>" + escaped(title) + "</title>";
    return fmt::format("<title>{}; {} to {}, takes {}</title>", escaped(title), time_text(start), time_text(end),
                       time_text(end - start));
  }

  void draw(const Clock& clock) {
    fit(clock);
    axis(clock);
    // Of boxes that begin together the longest comes first: the others are in it.
    std::vector<Box> boxes = clock.boxes;
    std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
      return std::tuple(a.rank, a.start, -a.end) < std::tuple(b.rank, b.start, -b.end);
    });
    boxes_ = &boxes;
    // Lines are under the boxes, so that none strikes through a name.
    for (const double mark : clock.marks)
      line(x(mark), top_, x(mark), y(timeline_.num_ranks) - row_ / 2, "stroke=\"#808080\" stroke-dasharray=\"4 4\"");
    const bool heads = clock.arrows.size() <= kMostHeads || !clock.labels.empty();
    for (const Arrow& arrow : clock.arrows) draw(arrow, clock, heads);
    for (const PathPart& part : clock.path) {
      if (part.src_rank != part.dst_rank) message(part);
    }
    draw_boxes(boxes, clock);
    for (const PathPart& part : clock.path) {
      if (part.src_rank == part.dst_rank) on_rank(part);
    }
    labels(clock);
  }

  void axis(const Clock& clock) {
    const double bottom = top_ + row_ * timeline_.num_ranks;
    for (int rank = 0; rank < timeline_.num_ranks; ++rank) {
      if (rank % static_cast<int>(std::ceil(14 / row_)) == 0)
        text(left_ - 10, y(rank) + 4, fmt::format("rank {}", rank), "text-anchor=\"end\"");
      if (timeline_.grey_rows) {
        svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left_,
                            y(rank) - box_ / 2, inner_, box_, hex(kLightGrey));
      } else {
        line(left_, y(rank), left_ + inner_, y(rank), fmt::format("stroke=\"{}\"", hex(kGridColour)));
      }
    }
    const auto label = [&](double at, const std::string& text_of_it) {
      text(x(at), top_ - 10, text_of_it, "text-anchor=\"middle\" fill=\"#444444\"");
    };
    for (const TimeLabel& one : clock.labels) label(one.at, one.text);
    if (!clock.labels.empty()) return;
    const double unit = choose_unit(to_ - from_), step = choose_step((to_ - from_) / unit, std::max(2.0, inner_ / 90));
    for (double i = std::ceil(from_ / unit / step); i * step * unit <= to_; ++i) {
      line(x(i * step * unit), top_ - 4, x(i * step * unit), bottom, fmt::format("stroke=\"{}\"", hex(kGridColour)));
      label(i * step * unit, time_text(i * step * unit));
    }
  }

  /// Half a box, if one of the rank's ends there, or covers the time.
  double off_line(int rank, double at) const {
    if (timeline_.grey_rows) return box_ / 2;
    const double near = 1e-6 * (to_ - from_);
    const auto first = std::lower_bound(boxes_->begin(), boxes_->end(), rank,
                                        [](const Box& box, int wanted) { return box.rank < wanted; });
    for (auto box = first; box != boxes_->end() && box->rank == rank && box->start <= at + near; ++box) {
      if (box->end >= at - near) return box_ / 2;
    }
    return 0;
  }

  struct Ends {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  };

  template <typename Message>
  Ends find_ends(const Message& message) const {
    const double down = message.dst_rank > message.src_rank ? 1 : -1;
    return {x(message.start), y(message.src_rank) + down * off_line(message.src_rank, message.start), x(message.end),
            y(message.dst_rank) - down * off_line(message.dst_rank, message.end)};
  }

  void draw(const Arrow& arrow, const Clock& clock, bool head) {
    const auto [x0, y0, x1, y1] = find_ends(arrow);
    const double length = std::max(1e-9, std::hypot(x1 - x0, y1 - y0));
    const double dx = (x1 - x0) / length, dy = (y1 - y0) / length;  // of one px of its length
    const double size = std::min(9.0, length / 2), half = size / 3;
    std::string path = fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x0, y0, x1, y1);
    if (head) {
      path += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}", x1 - size * dx - half * dy,
                          y1 - size * dy + half * dx, x1 - size * dx + half * dy, y1 - size * dy - half * dx, x1, y1);
    }
    svg_ += fmt::format("<path class=\"arrow{}\" d=\"{}\" stroke=\"{}\" fill=\"{}\" stroke-width=\"1.5\"{}>{}</path>\n",
                        arrow.dashed ? " dashed" : "", path, hex(arrow.colour), hex(arrow.colour),
                        arrow.dashed ? " stroke-dasharray=\"6 4\"" : "",
                        titled(arrow.title, arrow.start, arrow.end, clock));
  }

  void draw_boxes(const std::vector<Box>& boxes, const Clock& clock) {
    std::vector<bool> is_inside(boxes.size());
    bool any_inside = false;
    double outer_end = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      is_inside[i] = i > 0 && boxes[i].rank == boxes[i - 1].rank && boxes[i].start < outer_end;
      if (!is_inside[i]) outer_end = boxes[i].end;
      any_inside = any_inside || is_inside[i];
    }
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Box& box = boxes[i];
      const double height = is_inside[i] ? box_ / 2 - 2 : box_,
                   bottom = y(box.rank) + box_ / 2 - (is_inside[i] ? 2 : 0);
      const double width = std::max(1.0, x(box.end) - x(box.start));
      svg_ += fmt::format(
          "<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
          "stroke=\"#555555\" stroke-width=\"0.7\">{}</rect>\n",
          x(box.start), bottom - height, width, height, hex(box.fill), titled(box.title, box.start, box.end, clock));
      name(box, width, any_inside && !is_inside[i] ? bottom - 0.75 * height : bottom - height / 2, height);
    }
  }

  /// In one line or two, if they fit.
  void name(const Box& box, double width, double middle, double height) {
    const double centre = x(box.start) + width / 2;
    const std::string look =
        fmt::format("text-anchor=\"middle\" pointer-events=\"none\" fill=\"{}\"", hex(text_colour_on(box.fill)));
    const auto fits = [&](std::string_view part, double px) { return text_width(part, px) + 3 <= width; };
    const std::size_t gap = box.name.rfind('_');
    if (height < 13 || box.name.empty()) return;
    if (fits(box.name, kFontPx)) return text(centre, middle + 4, box.name, look);
    const std::string small = look + fmt::format(" font-size=\"{}\"", kSmallPx);
    if (fits(box.name, kSmallPx)) return text(centre, middle + 4, box.name, small);
    if (gap == std::string::npos || height < 28) return;
    const std::string first = box.name.substr(0, gap), second = box.name.substr(gap + 1);
    if (!fits(first, kSmallPx) || !fits(second, kSmallPx)) return;
    text(centre, middle - 2, first, small);
    text(centre, middle + 11, second, small);
  }

  /// The lower edge of a box, or the rank's line where there is none.
  double path_y(int rank, double at) const { return y(rank) + off_line(rank, at); }

  void path_line(const std::vector<std::pair<double, double>>& points) {
    std::string list;
    for (const auto& [x, y] : points) list += fmt::format("{:.1f},{:.1f} ", x, y);
    svg_ += fmt::format("<polyline class=\"path\" points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"3\"/>\n",
                        list, hex(kPathColour));
  }

  void on_rank(const PathPart& part) {
    const double x0 = x(part.start), x1 = x(part.end), middle = path_y(part.src_rank, (part.start + part.end) / 2);
    path_line(
        {{x0, path_y(part.src_rank, part.start)}, {x0, middle}, {x1, middle}, {x1, path_y(part.src_rank, part.end)}});
  }

  /// As its arrow, from where the path is on the one rank to where it is on the other.
  void message(const PathPart& part) {
    const auto [x0, y0, x1, y1] = find_ends(part);
    path_line({{x0, path_y(part.src_rank, part.start)}, {x0, y0}, {x1, y1}, {x1, path_y(part.dst_rank, part.end)}});
  }

  /// Over all lines, on white, and off each other and the boxes; left out where that is not possible, except in a picture
  /// of steps.
  void labels(const Clock& clock) {
    std::vector<Rectangle> taken;
    for (const Box& box : *boxes_)
      taken.push_back({x(box.start), x(box.end), y(box.rank) - box_ / 2, y(box.rank) + box_ / 2});
    for (const Arrow& arrow : clock.arrows) {
      if (arrow.label.empty()) continue;
      const auto [x0, y0, x1, y1] = find_ends(arrow);
      const double half = text_width(arrow.label, kFontPx) / 2 + 2;
      Rectangle best;
      std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
      for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88}) {
        const double at_x = x0 + share * (x1 - x0), at_y = y0 + share * (y1 - y0);
        const Rectangle place{at_x - half, at_x + half, at_y - 8, at_y + 8};
        const auto hidden =
            std::count_if(taken.begin(), taken.end(), [&](const Rectangle& other) { return overlap(place, other); });
        if (hidden >= fewest) continue;
        fewest = hidden;
        best = place;
      }
      if (fewest > 0 && clock.labels.empty()) continue;
      taken.push_back(best);
      svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"15\" fill=\"#FFFFFF\"/>\n",
                          best.left, best.top + 0.5, best.right - best.left);
      text((best.left + best.right) / 2, best.bottom - 4, arrow.label,
           fmt::format("text-anchor=\"middle\" pointer-events=\"none\" fill=\"{}\"", hex(arrow.colour)));
    }
  }

  /// Coloured squares with their meaning, in rows; returns where they end.
  double legend(double y) {
    double at = width_;
    for (const LegendEntry& entry : timeline_.legend) {
      const double width = 30 + text_width(entry.text, kFontPx);
      if (at + width > width_) {
        at = left_;
        y += kLinePx + 2;
      }
      svg_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\" stroke=\"#555555\" "
          "stroke-width=\"0.7\"/>\n",
          at, y - 10, hex(entry.fill));
      text(at + 18, y, entry.text);
      at += width;
    }
    return y;
  }

  const Timeline& timeline_;
  double row_ = 0, box_ = 0, left_ = 0, inner_ = 0, width_ = 0;
  double top_ = 0, from_ = 0, to_ = 1;       ///< of the current clock
  const std::vector<Box>* boxes_ = nullptr;  ///< the current clock's, by rank and start
  std::string svg_;
};

}  // namespace

double text_width(std::string_view text, double px) {
  double width = 0;
  for (const char c : text) width += letter_width(static_cast<unsigned char>(c));
  return width * px;
}

std::string time_text(double seconds) {
  if (seconds == 0) return "0";
  const double unit = choose_unit(std::abs(seconds));
  return fmt::format("{:.4g} {}", seconds / unit, unit == 1 ? "s" : unit == 1e-3 ? "ms" : unit == 1e-6 ? "µs" : "ns");
}

std::string to_svg(const Timeline& timeline) {
  return Drawing(timeline).svg();
}

}  // namespace lab::plot
