#include "codec/jpeg/metadata/text_segments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "base/format.hpp"
#include "codec/jpeg/metadata/metadata.hpp"

namespace gpufilter {
namespace {

// A property of XMP: a list of languages, of values, or one value.
enum class Form { languages, list, single };

struct Property {
  std::string_view keyword;  // PNG's
  std::string_view name;
  Form form = Form::single;
};

// As the XMP specification, part 3, maps them.
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
  return std::all_of(text.begin(), text.end(), is_allowed) &&
         text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '\r':
        xml += "&#xD;";  // a parser would make a line feed of it
        break;
      default:
        xml += c;
    }
  }
  return xml;
}

// A language tag: "de", "en-GB".
bool is_language(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

// XMP's dates are those of ISO 8601: "2024", "2024-05-01", "2024-05-01T10:00:00Z".
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
  // False if XMP has no place for the entry.
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
    const bool is_taken = by_language && std::any_of(values.begin(), values.end(), [&](auto& v) {
                            return v.language == language;
                          });
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

  // The default has to be there, and first.
  static std::string languages(Values values) {
    const auto fallback = std::find_if(values.begin(), values.end(),
                                       [](const Value& value) { return value.language.empty(); });
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

}  // namespace

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

}  // namespace gpufilter
