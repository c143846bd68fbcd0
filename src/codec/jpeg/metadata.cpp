#include "codec/jpeg/metadata.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

// A property of XMP: a list of languages, of values, or one value.
enum class Form { languages, list, single };

struct Property {
  std::string_view keyword;  // PNG's
  std::string_view name;
  Form form = Form::single;
};

// The mapping of the XMP specification, part 3.
constexpr std::array<Property, 7> properties{{{"Title", "dc:title", Form::languages},
                                              {"Author", "dc:creator", Form::list},
                                              {"Description", "dc:description", Form::languages},
                                              {"Copyright", "dc:rights", Form::languages},
                                              {"Source", "dc:source"},
                                              {"Software", "xmp:CreatorTool"},
                                              {"Creation Time", "xmp:CreateDate"}}};

constexpr std::string_view packet_begin =
    "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
    " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
    "  <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
    " xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\">\n";
constexpr std::string_view packet_end =
    "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>";
constexpr std::size_t longest_packet = largest_jpeg_segment - xmp_prefix.size();

// XML 1.0 has no control characters but these, not even escaped, and no U+FFFE and U+FFFF.
bool is_xml_text(std::string_view text) {
  const auto is_allowed = [](unsigned char c) {
    return (c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n' || c == '\r';
  };
  return std::ranges::all_of(text, is_allowed) &&
         text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

// A parser would make a line feed of a carriage return.
std::string escaped(std::string_view text) {
  return with_words_for(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\r', "&#xD;"}});
}

// A language tag: "de", "en-GB".
bool is_language(std::string_view text) {
  return std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

// XMP's dates follow ISO 8601: "2024", "2024-05-01", "2024-05-01T10:00:00Z".
bool is_date(std::string_view text) {
  constexpr std::string_view pattern = "dddd-dd-ddTdd:dd:dd";
  const std::size_t shared = std::min(text.size(), pattern.size());
  for (std::size_t i = 0; i < shared; ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (pattern[i] == 'd' ? !is_digit : text[i] != pattern[i]) return false;
  }
  const bool is_whole = text.size() == 4 || text.size() == 7 || text.size() == 10;
  const auto rest = text.substr(shared);
  return is_whole || (text.size() >= pattern.size() &&
                      rest.find_first_not_of("0123456789.:+-Z") == std::string_view::npos);
}

class Packet {
 public:
  // False if XMP has no property for the entry.
  bool add(const TextEntry& entry) {
    for (std::size_t i = 0; i < properties.size(); ++i) {
      const Property& property = properties.at(i);
      if (property.keyword == entry.keyword) return add(property, entry, values_.at(i));
    }
    return false;
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < properties.size(); ++i)
      text += element(properties.at(i), values_.at(i));
    return text.empty() ? "" : std::string(packet_begin) + text + std::string(packet_end);
  }

 private:
  struct Value {
    std::string language;
    std::string xml;
  };
  using Values = std::vector<Value>;

  bool add(const Property& property, const TextEntry& entry, Values& values) {
    if (!is_xml_text(entry.text) || !is_language(entry.language)) return false;
    if (property.name == "xmp:CreateDate" && !is_date(entry.text)) return false;
    if (property.form == Form::single && !values.empty()) return false;
    const bool by_language = property.form == Form::languages;
    const std::string language = by_language ? entry.language : "";
    const bool is_taken =
        by_language && std::ranges::any_of(values, [&](auto& v) { return v.language == language; });
    if (is_taken) return false;
    values.push_back({language, escaped(entry.text)});
    if (text().size() <= longest_packet) return true;
    values.pop_back();
    return false;
  }

  static std::string element(const Property& property, const Values& values) {
    if (values.empty()) return "";
    std::string content;
    switch (property.form) {
      case Form::single:
        content = values.front().xml;
        break;
      case Form::list:
        for (const Value& value : values)
          content += formatted("<rdf:li>{}</rdf:li>", value.xml);
        content = formatted("<rdf:Seq>{}</rdf:Seq>", content);
        break;
      case Form::languages:
        content = formatted("<rdf:Alt>{}</rdf:Alt>", languages(values));
        break;
    }
    return formatted("   <{0}>{1}</{0}>\n", property.name, content);
  }

  // The default language is required, and comes first.
  static std::string languages(Values values) {
    const auto fallback =
        std::ranges::find_if(values, [](const Value& value) { return value.language.empty(); });
    if (fallback == values.end()) {
      values.insert(values.begin(), {"", values.front().xml});
    } else {
      std::rotate(values.begin(), fallback, fallback + 1);
    }
    std::string content;
    for (const auto& [language, xml] : values) {
      content += formatted("<rdf:li xml:lang=\"{}\">{}</rdf:li>",
                           language.empty() ? "x-default" : language, xml);
    }
    return content;
  }

  std::array<Values, properties.size()> values_;
};

using namespace std::string_view_literals;

constexpr int app1 = JPEG_APP0 + 1;
constexpr int app13 = JPEG_APP0 + 13;
constexpr std::size_t largest_icc_profile = std::size_t{255} * (largest_jpeg_segment - 14);

struct JpegText {
  std::string xmp;                    // a packet; empty if there is nothing for it
  std::vector<std::string> comments;  // each for its own segment
  std::vector<std::string> left_out;  // names of texts that are too long
};

// "Comment" becomes a comment. PNG's keywords that XMP has a property for (Title, Author,
// Description, Copyright, Source, Software, and Creation Time if it is a date in XMP's form) become
// that property, unless the picture `has_xmp`, which is not changed. All others become comments
// with the keyword before the text: "Warning: not for sale".
JpegText jpeg_text(const std::vector<TextEntry>& text, bool has_xmp) {
  JpegText result;
  Packet packet;
  for (const TextEntry& entry : text) {
    if (!has_xmp && packet.add(entry)) continue;
    std::string comment =
        entry.keyword == comment_keyword ? entry.text : entry.keyword + ": " + entry.text;
    if (comment.size() > largest_jpeg_segment) {
      result.left_out.push_back(
          formatted("text \"{}\" ({} bytes are too many)", entry.keyword, entry.text.size()));
    } else if (!comment.empty()) {
      result.comments.push_back(std::move(comment));
    }
  }
  result.xmp = packet.text();
  return result;
}

class MetadataWriter {
 public:
  MetadataWriter(jpeg_compress_struct& jpeg, JpegErrors& errors, const JpegMetadata& content,
                 LeftOut& left_out)
      : jpeg_(jpeg),
        errors_(errors),
        content_(content),
        metadata_(content.metadata),
        left_out_(left_out) {}

  void write_layout(const JpegMetadataLayout& layout) {
    for (const JpegSegment& segment : layout) {
      if (segment.kind != JpegSegmentKind::other) {
        write_kind(segment.kind);
      } else {
        write_segment(segment.marker, "", segment.data);
      }
    }
  }

  // The metadata that the layout does not contain.
  void write_rest() {
    for (const auto kind : {JpegSegmentKind::exif, JpegSegmentKind::xmp,
                            JpegSegmentKind::icc_profile, JpegSegmentKind::image_resources})
      write_kind(kind);
  }

  // Text that does not come from a JPEG's comments.
  void write_text() {
    const JpegText text = jpeg_text(metadata_.text, !metadata_.xmp.empty());
    if (!text.xmp.empty()) write_segment(app1, xmp_prefix, as_bytes(text.xmp));
    for (const std::string& comment : text.comments)
      write_segment(JPEG_COM, "", as_bytes(comment));
    for (const std::string& name : text.left_out)
      left_out_.add(name);
  }

  void note_colors() { note_color_description(metadata_, has_profile_, left_out_); }

 private:
  // Once.
  void write_kind(JpegSegmentKind kind) {
    if (std::exchange(written_.at(static_cast<std::size_t>(kind)), true)) return;
    switch (kind) {
      case JpegSegmentKind::exif:
        return write_exif();
      case JpegSegmentKind::xmp:
        return write_xmp();
      case JpegSegmentKind::icc_profile:
        return write_profile();
      case JpegSegmentKind::image_resources:
        return write_resources();
      case JpegSegmentKind::other:
        break;
    }
  }

  void write_exif() {
    const Bytes& exif = metadata_.exif;
    if (exif.empty() || write_whole(app1, exif_prefix, exif)) return;
    left_out_.add(formatted("EXIF except its orientation ({} bytes are too many)", exif.size()));
    const Bytes orientation = exif_with_orientation_alone(exif);
    if (!orientation.empty()) write_segment(app1, exif_prefix, orientation);
  }

  void write_xmp() {
    const Bytes& xmp = metadata_.xmp;
    if (xmp.empty() || write_whole(app1, xmp_prefix, xmp)) return;
    left_out_.add(formatted("XMP ({} bytes are too many)", xmp.size()));
  }

  void write_profile() {
    const IccProfile* profile = profile_of_picture();
    if (profile == nullptr) return;
    const JOCTET* data = profile->data.data();
    const std::size_t size = profile->data.size();
    if (size > largest_icc_profile) {
      return left_out_.add(formatted("the ICC profile ({} bytes are too many)", size));
    }
    errors_.run([&] { jpeg_write_icc_profile(&jpeg_, data, static_cast<unsigned>(size)); });
    has_profile_ = true;
  }

  [[nodiscard]] const IccProfile* profile_of_picture() const {
    if (!content_.has_input_colors) return profile_for(content_.format, metadata_, left_out_);
    return metadata_.icc_profile ? &*metadata_.icc_profile : nullptr;
  }

  // Writes as many segments as needed: readers join them.
  void write_resources() {
    constexpr std::size_t longest = largest_jpeg_segment - resources_prefix.size();
    for (std::span<const std::uint8_t> rest = metadata_.image_resources; !rest.empty();) {
      const auto part = rest.first(std::min(rest.size(), longest));
      write_segment(app13, resources_prefix, part);
      rest = rest.subspan(part.size());
    }
  }

  // False if it does not fit a segment.
  bool write_whole(int marker, std::string_view prefix, std::span<const std::uint8_t> content) {
    if (prefix.size() + content.size() > largest_jpeg_segment) return false;
    write_segment(marker, prefix, content);
    return true;
  }

  void write_segment(int marker, std::string_view prefix, std::span<const std::uint8_t> content) {
    Bytes segment(prefix.begin(), prefix.end());
    segment.insert(segment.end(), content.begin(), content.end());
    const JOCTET* data = segment.data();
    const auto length = static_cast<unsigned>(segment.size());
    errors_.run([&] { jpeg_write_marker(&jpeg_, marker, data, length); });
  }

  jpeg_compress_struct& jpeg_;
  JpegErrors& errors_;
  const JpegMetadata& content_;
  const Metadata& metadata_;
  LeftOut& left_out_;
  std::array<bool, 4> written_{};  // by kind
  bool has_profile_ = false;
};

constexpr std::string_view extended_xmp_prefix("http://ns.adobe.com/xmp/extension/\0", 35);
constexpr std::string_view picture_index_prefix("MPF\0", 4);
constexpr std::string_view gain_map_prefix("urn:iso:std:iso:ts:21496:-1\0", 28);
constexpr std::size_t longest_identifier = 32;

// First bytes of each kind of segment, and the kind of metadata as which additional ones, which no
// member of Metadata holds, are reported.
struct SegmentBeginning {
  JpegSegmentKind kind;
  int marker;
  std::string_view prefix;
  MetadataKind further;
};
constexpr std::array<SegmentBeginning, 4> beginnings{
    {{JpegSegmentKind::exif, app1, exif_prefix, MetadataKind::exif},
     {JpegSegmentKind::xmp, app1, xmp_prefix, MetadataKind::xmp},
     {JpegSegmentKind::icc_profile, JPEG_APP0 + 2, icc_prefix, MetadataKind::other},
     {JpegSegmentKind::image_resources, app13, resources_prefix, MetadataKind::iptc}}};

// nullptr for other segments.
const SegmentBeginning* beginning_of(int marker, std::string_view segment) {
  const auto found = std::ranges::find_if(beginnings, [&](const SegmentBeginning& beginning) {
    return beginning.marker == marker && segment.starts_with(beginning.prefix);
  });
  return found == beginnings.end() ? nullptr : found;
}

// As which kind of metadata a segment is reported that no member of Metadata holds.
MetadataKind kind_of(const JpegSegment& segment) {
  const std::string_view text = as_text(segment.data);
  if (segment.marker == JPEG_COM) return MetadataKind::text;
  if (segment.marker == app1 && text.starts_with(extended_xmp_prefix)) return MetadataKind::xmp;
  const SegmentBeginning* known = beginning_of(segment.marker, text);
  return known == nullptr ? MetadataKind::other : known->further;
}

// Some files end a comment with a zero byte, which other formats cannot store.
std::string comment_text(std::string_view stored) {
  stored = stored.substr(0, stored.find('\0'));
  return is_utf8(stored) ? std::string(stored) : utf8_from_latin1(stored);
}

void read_segment(const jpeg_marker_struct& marker, Metadata& metadata) {
  const std::string_view segment = text_of(marker);
  if (marker.marker == JPEG_COM) {
    auto text = comment_text(segment);
    if (!text.empty()) metadata.text.push_back({std::string(comment_keyword), text, {}, {}});
  }
  const SegmentBeginning* known = beginning_of(marker.marker, segment);
  if (known == nullptr || known->kind == JpegSegmentKind::icc_profile) return;
  const bool has_parts = known->kind == JpegSegmentKind::image_resources;
  Bytes& into = has_parts                              ? metadata.image_resources
                : known->kind == JpegSegmentKind::exif ? metadata.exif
                                                       : metadata.xmp;
  if (!has_parts && !into.empty()) return;
  const auto content = as_bytes(segment.substr(known->prefix.size()));
  into.insert(into.end(), content.begin(), content.end());
}

void read_icc_profile(Decompressor& jpeg, JpegErrors& errors, Metadata& metadata,
                      std::vector<std::string>& warnings) {
  JOCTET* data = nullptr;
  unsigned length = 0;
  errors.run([&] { jpeg_read_icc_profile(&jpeg, &data, &length); });
  if (data == nullptr) {
    if (jpeg.segments.has_profile()) {
      warnings.push_back(errors.name() + ": skipped damaged metadata: colour profile");
    }
    return;
  }
  const std::unique_ptr<JOCTET, decltype(&std::free)> owned(data, &std::free);
  metadata.icc_profile.emplace().data.assign(data, data + length);
}

// There is no density if the file has none, or says only that pixels are square.
std::optional<Density> read_density(const jpeg_decompress_struct& jpeg) {
  const std::uint32_t x = jpeg.X_density;
  const std::uint32_t y = jpeg.Y_density;
  if (!jpeg.saw_JFIF_marker || x == 0 || y == 0) return std::nullopt;
  const auto per_metre_from_inch = [](std::uint32_t dpi) { return (dpi * 10000 + 127) / 254; };
  switch (jpeg.density_unit) {
    case 1:
      return Density{Density::Unit::per_metre, per_metre_from_inch(x), per_metre_from_inch(y)};
    case 2:
      return Density{Density::Unit::per_metre, x * 100, y * 100};
    default:
      break;
  }
  if (jpeg.density_unit != 0 || x == y) return std::nullopt;
  return Density{Density::Unit::aspect_ratio, x, y};
}

constexpr std::uint64_t max_dots = 0xFFFF;

// Rounded; the inverse of what read_density() does.
constexpr std::uint64_t per_inch(std::uint32_t per_metre) {
  return (std::uint64_t{per_metre} * 254 + 5000) / 10000;
}

// Whether converting to JFIF's dots per inch and back yields this value.
constexpr bool is_exact_in_inches(std::uint32_t per_metre) {
  const std::uint64_t dpi = per_inch(per_metre);
  return dpi <= max_dots && (dpi * 10000 + 127) / 254 == per_metre;
}

constexpr bool is_exact_in_centimetres(std::uint32_t per_metre) {
  return per_metre % 100 == 0 && per_metre / 100 <= max_dots;
}

}  // namespace

void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors,
                         const JpegMetadata& content, LeftOut& left_out) {
  MetadataWriter writer(jpeg, errors, content, left_out);
  if (content.layout != nullptr) writer.write_layout(*content.layout);
  writer.write_rest();
  if (content.layout == nullptr) writer.write_text();
  writer.note_colors();
}

JpegSegmentKind jpeg_segment_kind(int marker, std::string_view segment) {
  const SegmentBeginning* known = beginning_of(marker, segment);
  return known == nullptr ? JpegSegmentKind::other : known->kind;
}

JpegMetadataLayout kept_part(const JpegMetadataLayout& layout, const MetadataKinds& kinds) {
  const bool keeps_location = kinds.has(MetadataKind::location);
  JpegMetadataLayout result;
  std::copy_if(layout.begin(), layout.end(), std::back_inserter(result),
               [&](const JpegSegment& segment) {
                 if (segment.kind != JpegSegmentKind::other) return true;
                 const MetadataKind kind = kind_of(segment);
                 const bool may_say_place = kind == MetadataKind::exif || kind == MetadataKind::xmp;
                 return kinds.has(kind) && (keeps_location || !may_say_place);
               });
  return result;
}

bool announces_parts(int marker, std::string_view segment) {
  return marker == JPEG_APP0 + 2 &&
         (picture_index(segment) || segment.starts_with(gain_map_prefix));
}

std::optional<std::string_view> picture_index(std::string_view segment) {
  if (!segment.starts_with(picture_index_prefix)) return std::nullopt;
  return segment.substr(picture_index_prefix.size());
}

std::string name_of(const JpegSegment& segment) {
  const std::string_view text = as_text(segment.data);
  if (segment.marker == JPEG_COM) return "a comment";
  if (text.starts_with(extended_xmp_prefix)) return "extended XMP";
  const auto end = std::ranges::find_if(text, [](char c) { return c < 33 || c > 126; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  const std::string marker = formatted("APP{}", segment.marker - JPEG_APP0);
  if (length == 0) return marker;
  return formatted("{} \"{}\"", marker, text.substr(0, std::min(length, longest_identifier)));
}

Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                            std::vector<std::string>& warnings) {
  Metadata metadata;
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next)
    read_segment(*marker, metadata);
  read_icc_profile(jpeg, errors, metadata, warnings);
  if (jpeg.segments.left_out_comments()) {
    warnings.push_back(errors.name() + ": skipped some of its comments: there are too many");
  }
  if (jpeg.segments.left_out_others()) {
    warnings.push_back(errors.name() + ": skipped some of its APP segments: there are too many");
  }
  metadata.density = read_density(jpeg);
  remove_exif_prefix(metadata.exif);
  remove_exif_thumbnail(metadata.exif);
  remove_resource_thumbnails(metadata.image_resources);
  return metadata;
}

JpegMetadataLayout read_jpeg_metadata_layout(const jpeg_decompress_struct& jpeg) {
  JpegMetadataLayout layout;
  std::array<bool, 4> seen{};  // by kind
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    if (announces_parts(marker->marker, text_of(*marker))) continue;
    JpegSegment segment{jpeg_segment_kind(marker->marker, text_of(*marker)), marker->marker, {}};
    const bool is_other = segment.kind == JpegSegmentKind::other;
    if (!is_other && !std::exchange(seen.at(static_cast<std::size_t>(segment.kind)), true)) {
      layout.push_back(std::move(segment));
      continue;
    }
    const bool is_part = segment.kind == JpegSegmentKind::icc_profile ||
                         segment.kind == JpegSegmentKind::image_resources;
    if (is_part) continue;
    segment.kind = JpegSegmentKind::other;
    segment.data.assign(marker->data, marker->data + marker->data_length);
    layout.push_back(std::move(segment));
  }
  return layout;
}

void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata, LeftOut& left_out) {
  jpeg.density_unit = 0;
  jpeg.X_density = jpeg.Y_density = 1;
  if (!metadata.density) return;
  const Density& density = *metadata.density;
  std::uint64_t x = density.x;
  std::uint64_t y = density.y;
  UINT8 unit = 0;
  if (density.unit == Density::Unit::per_metre) {
    const bool inches = is_exact_in_inches(density.x) && is_exact_in_inches(density.y);
    const bool centimetres =
        is_exact_in_centimetres(density.x) && is_exact_in_centimetres(density.y);
    unit = centimetres && !inches ? 2 : 1;
    x = unit == 1 ? per_inch(density.x) : density.x / 100;
    y = unit == 1 ? per_inch(density.y) : density.y / 100;
  }
  if (x == 0 || y == 0 || x > max_dots || y > max_dots) return left_out.add("density");
  jpeg.density_unit = unit;
  jpeg.X_density = static_cast<UINT16>(x);
  jpeg.Y_density = static_cast<UINT16>(y);
}

}  // namespace gpufilter
