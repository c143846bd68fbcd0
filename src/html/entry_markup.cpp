#include "html/entry_markup.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.hpp"
#include "chart/svg_canvas.hpp"

namespace gpufilter::html {
namespace {

using lab::escaped_markup;

// Previews below this size are shown with visible pixels.
constexpr int small_edge = 240;

bool are_proportional(ImageSize a, ImageSize b) {
  const double ratio =
      static_cast<double>(a.width) * b.height / (static_cast<double>(b.width) * a.height);
  // Previews are rounded to whole pixels.
  const double rounding = 1.0 / std::min({a.width, a.height, b.width, b.height});
  return std::abs(ratio - 1) <= 0.01 + rounding;
}

std::string image(const std::string& address, const std::string& alternative, ImageSize size,
                  const char* kind) {
  return formatted(
      "<img class=\"{}\" src=\"{}\" alt=\"{}\" width=\"{}\" height=\"{}\" draggable=\"false\">",
      kind, escaped_markup(address), escaped_markup(alternative), size.width, size.height);
}

std::string mode_button(const char* mode, const char* text, bool is_pressed) {
  return formatted("<button type=\"button\" data-mode=\"{}\" aria-pressed=\"{}\">{}</button>", mode,
                   is_pressed, text);
}

// How the pictures of an entry can be shown.
struct Views {
  bool both = false;
  bool slider = false;
  bool difference = false;

  explicit Views(const Entry& entry)
      : both(entry.before && entry.after),
        slider(both && are_proportional(entry.before->preview, entry.after->preview)),
        difference(!entry.difference.empty()) {}

  [[nodiscard]] const char* first() const { return slider ? "slider" : both ? "side" : "single"; }
};

std::string mode_buttons(const Views& views) {
  if (!views.both) return "";
  std::string buttons = "<div class=\"modes\" role=\"group\" aria-label=\"View\">";
  if (views.slider) buttons += mode_button("slider", "Slider", true);
  buttons += mode_button("side", "Side by side", !views.slider);
  if (views.difference) buttons += mode_button("difference", "Difference", false);
  return buttons + "</div>\n";
}

std::string divider(const Entry& entry) {
  const std::string before = escaped_markup(entry.before->label);
  const std::string after = escaped_markup(entry.after->label);
  return formatted(
      "<input class=\"divider\" type=\"range\" min=\"0\" max=\"100\" step=\"1\" value=\"50\" "
      "aria-label=\"Divider between {0} on the left and {1} on the right\" "
      "aria-valuetext=\"50 % {0}, 50 % {1}\" data-before=\"{0}\" data-after=\"{1}\">"
      "<span class=\"handle\" aria-hidden=\"true\"></span>",
      before, after);
}

std::string figure(const Side& side, const std::string& name, const char* kind) {
  return formatted("<figure class=\"{0}\">{1}<figcaption>{2}</figcaption></figure>\n", kind,
                   image(side.address, side.label + ": " + name, side.preview, "preview"),
                   escaped_markup(side.label));
}

constexpr const char* difference_legend =
    "<p class=\"legend\">Each pixel shows the largest difference in its area: dark grey for none, "
    "<span class=\"ramp\" role=\"img\" aria-label=\"yellow to red\"></span> from one step to half "
    "of the range or more, cyan to blue if only alpha differs, dark green within the "
    "tolerance.</p>\n";

std::string viewer(const Entry& entry) {
  if (!entry.before && !entry.after) return "";
  const Views views(entry);
  const Side& main = entry.after ? *entry.after : *entry.before;
  const ImageSize size = main.preview;
  std::string text =
      formatted("<div class=\"viewer\" data-mode=\"{}\">\n", views.first()) + mode_buttons(views);
  text += formatted("<div class=\"stage{}\" style=\"--w:{};--h:{}\">\n",
                    std::max(size.width, size.height) < small_edge ? " pixels" : "", size.width,
                    size.height);
  if (entry.after) text += figure(*entry.after, entry.name, "after");
  if (entry.before) text += figure(*entry.before, entry.name, "before");
  if (views.difference) {
    const Side difference{"Difference", entry.difference, entry.before->preview, ""};
    text += figure(difference, entry.name, "difference");
  }
  if (views.slider) text += divider(entry);
  text += "</div>\n";
  if (views.difference) text += difference_legend;
  return text + "</div>\n";
}

std::string histogram_markup(const Side& side) {
  return formatted(
      "<figure class=\"histogram\"><figcaption>{}</figcaption>{}<div class=\"axis\" "
      "aria-hidden=\"true\"><span>dark</span><span>bright</span></div></figure>\n",
      escaped_markup(side.label), side.histograms);
}

std::string histograms_markup(const Entry& entry) {
  if (!entry.before && !entry.after) return "";
  std::string text = "<h3>Histograms</h3>\n<div class=\"histograms\">\n";
  if (entry.before) text += histogram_markup(*entry.before);
  if (entry.after) text += histogram_markup(*entry.after);
  return text + "</div>\n";
}

std::string chip(const Entry& entry) {
  return formatted("<span class=\"chip {}\">{}</span>", class_of(entry.tone),
                   escaped_markup(entry.status));
}

std::string thumbnail(const Entry& entry) {
  const Side* side = entry.after ? &*entry.after : entry.before ? &*entry.before : nullptr;
  if (side == nullptr) return "<span class=\"none\">no preview</span>";
  return formatted(
      "<img src=\"{}\" alt=\"\" width=\"{}\" height=\"{}\" loading=\"lazy\" "
      "decoding=\"async\">",
      escaped_markup(side->address), side->preview.width, side->preview.height);
}

std::string rank(const char* name, const std::optional<double>& value) {
  return value ? formatted(" data-{}=\"{:.6g}\"", name, *value) : "";
}

}  // namespace

const char* class_of(Tone tone) {
  static constexpr std::array names{"good", "neutral", "bad"};
  return names.at(static_cast<std::size_t>(tone));
}

std::string markup_of(const std::vector<Fact>& facts) {
  if (facts.empty()) return "";
  std::string text = "<dl>\n";
  for (const Fact& fact : facts) {
    text += formatted("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped_markup(fact.label),
                      escaped_markup(fact.text));
  }
  return text + "</dl>\n";
}

std::string detail_markup(const Entry& entry) {
  std::string text = viewer(entry);
  if (!entry.message.empty())
    text += formatted("<p class=\"message\">{}</p>\n", escaped_markup(entry.message));
  if (!entry.difference_text.empty())
    text += formatted("<p class=\"compared\">{}</p>\n", escaped_markup(entry.difference_text));
  return text + markup_of(entry.facts) + histograms_markup(entry);
}

std::string card_markup(const Entry& entry, std::size_t index) {
  const Side* side = entry.after ? &*entry.after : entry.before ? &*entry.before : nullptr;
  std::string text =
      formatted("<li class=\"card {}\" id=\"p{}\" data-status=\"{}\"{}{}>\n", class_of(entry.tone),
                index, escaped_markup(entry.status), rank("time", entry.milliseconds),
                rank("difference", entry.mean_squared_difference));
  text += formatted(
      "<a class=\"open\" href=\"{}\"><span class=\"thumbnail\">{}</span><span "
      "class=\"name\">{}</span></a>\n<p class=\"state\">{} <span>{}</span></p>\n",
      side == nullptr ? formatted("#p{}", index) : escaped_markup(side->address), thumbnail(entry),
      escaped_markup(entry.name), chip(entry), escaped_markup(entry.note));
  if (!entry.message.empty())
    text += formatted("<p class=\"message\">{}</p>\n", escaped_markup(entry.message));
  return text + "<template>" + detail_markup(entry) + "</template>\n</li>\n";
}

}  // namespace gpufilter::html
