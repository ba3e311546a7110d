#include "common/base/utf8_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/base/text.h"

namespace lab {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16Little = "\xFF\xFE";
constexpr std::string_view kUtf16Big = "\xFE\xFF";

/// Windows-1252 from 0x80 to 0x9F; U+FFFD where it has no character. All others are as in Latin-1 and Unicode.
constexpr std::array<std::uint32_t, 32> kWindows1252 = {0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD,
                                                        0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

enum class ByteOrder { kLittle, kBig };

/// nullopt: an odd number of bytes, or half a surrogate pair.
std::optional<std::string> from_utf16(std::string_view bytes, ByteOrder order) {
  if (bytes.size() % 2 != 0) return std::nullopt;
  const auto unit_at = [&](std::size_t at) -> std::uint32_t {
    if (at + 1 >= bytes.size()) return 0;
    const std::uint32_t first = static_cast<unsigned char>(bytes[at]),
                        second = static_cast<unsigned char>(bytes[at + 1]);
    return order == ByteOrder::kLittle ? first | second << 8 : first << 8 | second;
  };
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint32_t code = unit_at(at);
    if (code >= 0xD800 && code < 0xE000) {
      const std::uint32_t low = unit_at(at + 2);
      if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000) return std::nullopt;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

/// In UTF-16 of a Western text every other byte is 0, with few exceptions, and the bytes between never are.
std::optional<ByteOrder> order_by_zeros(std::string_view bytes) {
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < bytes.size(); ++i) zeros[i % 2] += bytes[i] == '\0' ? 1 : 0;
  const auto most = [&](std::size_t count) { return 5 * count >= 2 * bytes.size() && count > 0; };  // of half the bytes
  if (zeros[0] == 0 && most(zeros[1])) return ByteOrder::kLittle;
  if (zeros[1] == 0 && most(zeros[0])) return ByteOrder::kBig;
  return std::nullopt;
}

std::string from_windows_1252(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    append_utf8(text, byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte);
  }
  return text;
}

std::optional<Utf8Text> converted(const std::string& bytes) {
  const auto named = [](std::optional<std::string> text, const char* was) {
    return text ? std::optional(Utf8Text{std::move(*text), was}) : std::nullopt;
  };
  const std::string_view all = bytes;
  if (begins_with(all, kUtf16Little)) return named(from_utf16(all.substr(2), ByteOrder::kLittle), "UTF-16");
  if (begins_with(all, kUtf16Big)) return named(from_utf16(all.substr(2), ByteOrder::kBig), "UTF-16");
  if (const auto order = order_by_zeros(all)) return named(from_utf16(all, *order), "UTF-16");
  if (!is_utf8(all)) return named(from_windows_1252(all), "Latin-1");
  if (begins_with(all, kUtf8Mark)) return Utf8Text{bytes.substr(kUtf8Mark.size()), "UTF-8 with a byte order mark"};
  return Utf8Text{bytes, ""};
}

}  // namespace

bool is_text_by_name(const std::string& name) {
  const std::string extension = std::filesystem::path(name).extension().string();
  for (const char* text : {".md", ".txt", ".log", ".err", ".cpp", ".h"}) {
    if (extension == text) return true;
  }
  return false;
}

std::optional<Utf8Text> utf8_text(const std::string& bytes) {
  const std::optional<Utf8Text> text = converted(bytes);
  return text && text->text.find('\0') == std::string::npos ? text : std::nullopt;
}

}  // namespace lab
