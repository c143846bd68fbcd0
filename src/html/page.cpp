#include "html/page.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "batch/folder_scan.hpp"
#include "chart/svg_chart.hpp"

namespace gpufilter::html {
namespace {

using lab::escaped_markup;

// The name of a tone in the style sheet.
const char* class_of(Tone tone) {
  static constexpr std::array names{"good", "neutral", "bad"};
  return names.at(static_cast<std::size_t>(tone));
}

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

// The picture that represents an entry; nullptr if there is none.
const Side* side_of(const Entry& entry) {
  return entry.after ? &*entry.after : entry.before ? &*entry.before : nullptr;
}

std::string viewer(const Entry& entry) {
  const Side* main = side_of(entry);
  if (main == nullptr) return "";
  const Views views(entry);
  const ImageSize size = main->preview;
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
  const Side* side = side_of(entry);
  if (side == nullptr) return "<span class=\"none\">no preview</span>";
  return formatted(
      "<img src=\"{}\" alt=\"\" width=\"{}\" height=\"{}\" loading=\"lazy\" "
      "decoding=\"async\">",
      escaped_markup(side->address), side->preview.width, side->preview.height);
}

std::string rank(const char* name, const std::optional<double>& value) {
  return value ? formatted(" data-{}=\"{:.6g}\"", name, *value) : "";
}

// The facts as "<dl>"; empty if there are none.
std::string markup_of(const std::vector<Fact>& facts) {
  if (facts.empty()) return "";
  std::string text = "<dl>\n";
  for (const Fact& fact : facts) {
    text += formatted("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped_markup(fact.label),
                      escaped_markup(fact.text));
  }
  return text + "</dl>\n";
}

// The entry's card in the grid, with the detail in a template; `index` is its number on the page.
std::string card_markup(const Entry& entry, std::size_t index) {
  const Side* side = side_of(entry);
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

// Nothing but previews may be loaded. The icon is embedded too, because browsers would request one.
constexpr const char* head =
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="gpufilter {0}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230969da'/%3E%3Crect x='8' width='8' height='16' rx='3' fill='%2358a6ff'/%3E%3C/svg%3E">
<title>{1}</title>
<style>
{2}{3}</style>
</head>
)";

std::string head_of(const Page& page) {
  return formatted(fmt::runtime(head), GPUFILTER_VERSION,
                   escaped_markup(page.heading + " - gpufilter"), lab::chart_style_sheet(),
                   page_files().at("page.css"));
}

std::string header_of(const Page& page) {
  std::string text = formatted(
      "<header>\n<p class=\"subject\"><span class=\"mark\" aria-hidden=\"true\"></span>{}</p>\n"
      "<h1>{}</h1>\n",
      escaped_markup(page.subject), escaped_markup(page.heading));
  for (std::size_t i = 0; i < page.summary.size(); ++i) {
    if (page.summary[i].empty()) continue;
    text += formatted("<p class=\"summary {}\">{}</p>\n",
                      i == 0 ? class_of(page.tone) : class_of(Tone::neutral),
                      escaped_markup(page.summary[i]));
  }
  return text + "</header>\n";
}

// The statuses of the entries with their numbers, in the order in which they first occur.
std::vector<std::pair<std::string, std::size_t>> statuses_of(const Page& page) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const Entry& entry : page.entries) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == entry.status; });
    if (known == counts.end()) {
      counts.emplace_back(entry.status, 1);
    } else {
      ++known->second;
    }
  }
  return counts;
}

bool any_has(const Page& page, std::optional<double> Entry::*value) {
  return std::any_of(page.entries.begin(), page.entries.end(),
                     [&](const Entry& entry) { return (entry.*value).has_value(); });
}

// The controls need the script, which shows them.
std::string grid_controls(const Page& page) {
  std::string text =
      "<form class=\"controls\" role=\"search\" aria-label=\"Filter the pictures\" hidden>\n"
      "<label class=\"field\">Name <input type=\"search\" id=\"name\" autocomplete=\"off\" "
      "placeholder=\"part of a name\"></label>\n"
      "<label class=\"field\">Order <select id=\"order\"><option value=\"\">as listed</option>"
      "<option value=\"name\">by name</option>";
  if (any_has(page, &Entry::milliseconds)) text += "<option value=\"time\">slowest first</option>";
  if (any_has(page, &Entry::mean_squared_difference))
    text += "<option value=\"difference\">largest difference first</option>";
  text += formatted(
      "</select></label>\n<div class=\"modes\" role=\"group\" aria-label=\"Status\"><button "
      "type=\"button\" data-status=\"\" aria-pressed=\"true\">all {}</button>",
      page.entries.size());
  for (const auto& [status, count] : statuses_of(page)) {
    text += formatted(
        "<button type=\"button\" data-status=\"{0}\" aria-pressed=\"false\">{0} {1}</button>",
        escaped_markup(status), count);
  }
  return text + "</div>\n<p id=\"shown\" role=\"status\"></p>\n</form>\n";
}

constexpr const char* dialog =
    R"(<dialog id="detail" aria-labelledby="detail-name">
<div class="bar"><h2 id="detail-name"></h2><div class="modes" role="group" aria-label="Pictures"><button type="button" id="previous">Previous</button><button type="button" id="next">Next</button></div><button type="button" id="close">Close</button></div>
<div id="detail-body"></div>
</dialog>
)";

std::string pictures_of(const Page& page) {
  if (!page.is_grid) {
    std::string text = "<section aria-label=\"Pictures\" class=\"panel-box\">\n";
    for (const Entry& entry : page.entries)
      text += detail_markup(entry);
    return text + "</section>\n";
  }
  std::string text = "<section aria-label=\"Pictures\">\n" + grid_controls(page) +
                     "<ul class=\"grid\" id=\"grid\">\n";
  for (std::size_t i = 0; i < page.entries.size(); ++i)
    text += card_markup(page.entries[i], i + 1);
  return text + "</ul>\n</section>\n" + dialog;
}

std::string markup_of(const Table& table) {
  std::string text = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const std::string& heading : table.headings)
    text += formatted("<th scope=\"col\">{}</th>", escaped_markup(heading));
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (const std::string& cell : row)
      text += formatted("<td>{}</td>", escaped_markup(cell));
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

std::string markup_of(const Section& section) {
  std::string text =
      formatted("<section class=\"panel-box\">\n<h2>{}</h2>\n", escaped_markup(section.heading));
  if (!section.chart.empty())
    text += "<div class=\"scroll chart\" tabindex=\"0\">" + section.chart + "</div>\n";
  if (!section.note.empty())
    text += formatted("<p class=\"legend\">{}</p>\n", escaped_markup(section.note));
  text += markup_of(section.facts);
  if (!section.table.rows.empty()) {
    text += formatted("<details><summary>{}</summary>\n{}</details>\n",
                      escaped_markup(section.table_name), markup_of(section.table));
  }
  return text + "</section>\n";
}

std::string command_of(const Page& page) {
  return formatted(
      "<section class=\"panel-box\">\n<h2>Repeat this run</h2>\n"
      "<div class=\"command\"><pre tabindex=\"0\" id=\"repeat\"><code>cd {} &amp;&amp; </code>"
      "<code id=\"command\">{}</code></pre>"
      "<button type=\"button\" id=\"copy\" hidden>Copy</button></div>\n{}</section>\n",
      escaped_markup(page.folder), escaped_markup(page.command),
      page.remark.empty() ? ""
                          : formatted("<p class=\"legend\">{}</p>\n", escaped_markup(page.remark)));
}

namespace fs = std::filesystem;

constexpr std::string_view previews_prefix = "previews-";
constexpr std::string_view mark_text =
    "gpufilter wrote the page in this folder. Its pictures are previews: searches of folders skip "
    "them.\n";

bool is_previews_folder(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename();
  return name.starts_with(previews_prefix) && entry.is_directory() && !entry.is_symlink() &&
         name.size() == previews_prefix.size() + process_token_digits;
}

// Removes the previews in `folder`, and the folder if nothing else is in it.
void remove_previews(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().extension() == ".jpg") fs::remove(file.path(), ignored);
  }
  fs::remove(folder, ignored);
}

}  // namespace

std::string detail_markup(const Entry& entry) {
  std::string text = viewer(entry);
  if (!entry.message.empty())
    text += formatted("<p class=\"message\">{}</p>\n", escaped_markup(entry.message));
  if (!entry.difference_text.empty())
    text += formatted("<p class=\"compared\">{}</p>\n", escaped_markup(entry.difference_text));
  return text + markup_of(entry.facts) + histograms_markup(entry);
}

std::string to_html(const Page& page) {
  std::string text = head_of(page) + "<body>\n<main>\n" + header_of(page) + pictures_of(page);
  for (const Section& section : page.sections)
    text += markup_of(section);
  text += command_of(page) + "</main>\n";
  text += formatted("<footer>gpufilter {}, {}</footer>\n", GPUFILTER_VERSION,
                    escaped_markup(page.time));
  return text + formatted("<script>\n{}</script>\n</body>\n</html>\n", page_files().at("page.js"));
}

PageFolder::PageFolder(std::string path, EarlierPage earlier)
    : path_(std::move(path)), previews_(std::string(previews_prefix) + process_token()) {
  if (path_ == "-") throw UsageError("--report -: a page needs a folder; name one");
  if (exists(path_) && !is_folder(path_))
    throw UsageError(formatted("{}: is not a folder; --report takes one", printable(path_)));
  with_failures_of(path_, [&] {
    if (!fs::exists(fs::path(path_) / page_mark) && !is_empty()) {
      throw UsageError(formatted("{}: holds other files; give --report a new or empty folder",
                                 printable(path_)));
    }
    const bool has_page = fs::exists(page());
    if (has_page && earlier == EarlierPage::refused) {
      throw UsageError(formatted("{}: already holds a report; --on-exists overwrite replaces it",
                                 printable(path_)));
    }
    is_new_ = !has_page;
    fs::create_directories(path_);
    lock();
    if (is_new_) remove_other_previews();  // of a run that was killed
    fs::create_directory(fs::path(path_) / previews_);
  });
}

PageFolder::~PageFolder() {
  if (is_written_ || !mark_) return;
  const fs::path folder = path_;
  remove_previews(folder / previews_);
  if (!is_new_) return;
  std::error_code ignored;
  fs::remove(folder / page_mark, ignored);
  fs::remove(folder, ignored);  // fails if there is anything in it
}

bool PageFolder::is_empty() const {
  return !is_folder(path_) || fs::is_empty(path_);
}

void PageFolder::lock() {
  mark_ = open_file(fs::path(path_) / page_mark, O_RDWR | O_CREAT, 0666);
  if (::flock(mark_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    mark_.reset();
    throw UsageError(
        formatted("{}: another process is writing a report there; give --report "
                  "another folder",
                  printable(path_)));
  }
  if (fs::file_size(fs::path(path_) / page_mark) > 0) return;
  write_fully(mark_.get(), as_bytes(mark_text));
}

std::string PageFolder::preview_path(const std::string& name) const {
  return fs::path(path_) / previews_ / name;
}

std::string PageFolder::preview_address(const std::string& name) const {
  return previews_ + "/" + name;
}

std::string PageFolder::page() const {
  return fs::path(path_) / "index.html";
}

void PageFolder::remove_other_previews() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (is_previews_folder(entry) && entry.path().filename() != previews_)
      remove_previews(entry.path());
  }
}

void PageFolder::write_page(const std::string& html) {
  with_failures_of(page(), [&] {
    AtomicFile file(page());
    file.write(as_bytes(html));
    file.commit();
    is_written_ = true;
    remove_other_previews();
  });
}

}  // namespace gpufilter::html
