#include "html/page.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "chart/svg_canvas.hpp"
#include "html/entry_markup.hpp"
#include "html/page_files.hpp"

namespace gpufilter::html {
namespace {

using lab::escaped_markup;

// Nothing but previews may be loaded. The icon is part of the page too: browsers would ask for one.
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

// Shown by the script, which they need.
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

}  // namespace

std::string to_html(const Page& page) {
  std::string text = head_of(page) + "<body>\n<main>\n" + header_of(page) + pictures_of(page);
  for (const Section& section : page.sections)
    text += markup_of(section);
  text += command_of(page) + "</main>\n";
  text += formatted("<footer>gpufilter {}, {}</footer>\n", GPUFILTER_VERSION,
                    escaped_markup(page.time));
  return text + formatted("<script>\n{}</script>\n</body>\n</html>\n", page_files().at("page.js"));
}

}  // namespace gpufilter::html
