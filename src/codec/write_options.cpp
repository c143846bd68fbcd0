#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "codec/codec.hpp"

namespace gpufilter {
namespace {

constexpr const char* all_kinds = "all";
constexpr const char* no_kinds = "none";
constexpr std::array<std::pair<const char*, MetadataKind>, 7> metadata_kinds{
    {{"exif", MetadataKind::exif},
     {"xmp", MetadataKind::xmp},
     {"iptc", MetadataKind::iptc},
     {"icc", MetadataKind::icc},
     {"text", MetadataKind::text},
     {"density", MetadataKind::density},
     {"other", MetadataKind::other}}};

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Reads the values of each kind.
struct Parser {
  std::string_view text;

  OptionValue operator()(const WriteOption::WholeNumber& numbers) const {
    int value = 0;
    if (!parse_whole(text, value) || value < numbers.minimum || value > numbers.maximum) {
      throw UsageError(formatted("'{}' is not a whole number from {} to {}", printable(text),
                                 numbers.minimum, numbers.maximum));
    }
    return value;
  }

  OptionValue operator()(const WriteOption::Choice& choices) const {
    const auto& names = choices.names;
    if (std::ranges::find(names, text) == names.end()) {
      throw UsageError(not_among(text, names));
    }
    return std::string(text);
  }

  OptionValue operator()(const WriteOption::List& list) const {
    for (const std::string_view word : words_of(text)) {
      if (std::ranges::find(list.names, word) == list.names.end())
        throw UsageError(not_among(word, list.names));
    }
    return std::string(text);
  }

  OptionValue operator()(const WriteOption::AnyColor&) const { return parse_color(text); }

  OptionValue operator()(const WriteOption::ByteCount&) const {
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes > std::numeric_limits<int>::max()) throw UsageError(not_bytes(text));
    return static_cast<int>(*bytes);
  }

  OptionValue operator()(const WriteOption::Flag&) const {
    const std::vector<std::string> names{"on", "off"};
    if (text != names[0] && text != names[1]) throw UsageError(not_among(text, names));
    return text == names[0];
  }
};

struct Printer {
  std::string operator()(int number) const { return std::to_string(number); }
  std::string operator()(const std::string& name) const { return name; }
  std::string operator()(const Color& color) const {
    return formatted("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
  }
  std::string operator()(bool flag) const { return flag ? "on" : "off"; }
};

}  // namespace

OptionValue parse_value(const WriteOption& option, std::string_view text) {
  return std::visit(Parser{text}, option.kind);
}

std::string to_string(const OptionValue& value) {
  return std::visit(Printer{}, value);
}

const WriteOption& background_option() {
  static const WriteOption option{"background", WriteOption::AnyColor{}, "white",
                                  "The colour behind transparent pixels if the output has no "
                                  "alpha, as in JPEG. #rgb, #rrggbb or a name.",
                                  WriteOption::Pixels::with_alpha};
  return option;
}

const WriteOption& quality_option() {
  static const WriteOption option{
      "quality", WriteOption::WholeNumber{1, 100}, "",
      "Quality of lossy output. By default the input's from JPEG to JPEG and, estimated, from "
      "WebP, HEIC or AVIF to the same format; otherwise 90 for JPEG and JPEG XL, 75 for WebP, 50 "
      "for AVIF and HEIC. In JPEG XL, 100 is lossless."};
  return option;
}

const WriteOption& max_bytes_option() {
  static const WriteOption option{
      "max-bytes", WriteOption::ByteCount{}, "",
      "The largest size of the file. If it is exceeded, the quality is lowered as far as "
      "necessary, also below --quality; a picture that is too large even at quality 1 fails."};
  return option;
}

const WriteOption& lossless_option() {
  static const WriteOption option{
      "lossless", WriteOption::Choice{{"auto", "never", "always"}, "always"}, "auto",
      "Keep every bit of the picture. JPEG: crops and turns at the edges of blocks work without "
      "decoding; always: other pictures fail. Other formats: always, or auto if the input is "
      "a lossless file of the same format and --quality is not given."};
  return option;
}

const WriteOption& strip_option() {
  static const WriteOption option{
      "strip", WriteOption::Choice{{"off", "gps", "on"}, "on"}, "off",
      "Leave out EXIF, XMP, IPTC, text and comments; gps: only the position in EXIF and XMP. The "
      "colour profile, density and orientation stay."};
  return option;
}

const WriteOption& keep_option() {
  static const WriteOption option = [] {
    WriteOption::List list;
    for (const auto& [name, kind] : metadata_kinds)
      list.names.emplace_back(name);
    list.names.insert(list.names.end(), {all_kinds, no_kinds});
    return WriteOption{"keep", std::move(list), "",
                       "The metadata that stays, separated by commas: exif, xmp, iptc, icc (colour "
                       "profile, gamma), text (and comments), density, other (what only JPEG "
                       "holds), all or none. The orientation always stays. --strip is --keep "
                       "icc,density."};
  }();
  return option;
}

WriteOptions& WriteOptions::set(const WriteOption& option, std::string_view text) {
  given_.insert_or_assign(option.name, parse_value(option, text));
  return *this;
}

WriteOptions& WriteOptions::unset(const WriteOption& option) {
  given_.erase(option.name);
  return *this;
}

bool WriteOptions::is_given(const WriteOption& option) const {
  return given_.count(option.name) > 0;
}

std::optional<OptionValue> WriteOptions::value(const WriteOption& option) const {
  if (const auto found = given_.find(option.name); found != given_.end()) return found->second;
  if (option.default_value.empty()) return std::nullopt;
  return parse_value(option, option.default_value);
}

std::string quality_reason(const WriteOptions& options) {
  const auto bytes = options.get<int>(max_bytes_option());
  return bytes ? formatted("the highest for {} bytes", *bytes) : "requested";
}

MetadataKinds kept_metadata(const WriteOptions& options) {
  const auto list = options.get<std::string>(keep_option());
  const std::string strip = *options.get<std::string>(strip_option());
  MetadataKinds kinds{};
  if (!list) {
    if (strip == "off") return MetadataKinds::all();
    if (strip == "on") return {MetadataKind::icc, MetadataKind::density};
    for (const auto& [name, kind] : metadata_kinds)
      kinds.add(kind);
    return kinds;
  }
  if (strip != "gps") kinds.add(MetadataKind::location);
  for (const std::string_view word : words_of(*list)) {
    for (const auto& [name, kind] : metadata_kinds) {
      if (word == name || word == all_kinds) kinds.add(kind);
    }
  }
  return kinds;
}

}  // namespace gpufilter
