// Pages for browsers that show what became of pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/installed_files.hpp"
#include "image/rows.hpp"

namespace gpufilter::html {

// All texts are plain: pages escape them.
struct Fact {
  std::string label;
  std::string text;
};

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

enum class Tone { good, neutral, bad };

// One of the two pictures of an entry.
struct Side {
  std::string label;       // "Before"
  std::string address;     // of its preview
  ImageSize preview;       // of the preview, in pixels
  std::string histograms;  // SVG, see sketch_histograms()
};

struct Entry {
  std::string name;
  std::string status;
  Tone tone = Tone::neutral;
  std::string note;     // a few words beside the status
  std::string message;  // why there is no result, or no preview; empty if there is nothing to say
  std::vector<Fact> facts;
  std::optional<Side> before;
  std::optional<Side> after;
  std::string difference;       // the address of its preview; empty: there is none
  std::string difference_text;  // a sentence; empty: not compared
  // What entries can be sorted by; nothing counts as less than any number.
  std::optional<double> milliseconds;
  std::optional<double> mean_squared_difference;
};

// A table with a heading, for a part of the page below the pictures.
struct Section {
  std::string heading;
  std::string chart = {};  // SVG; empty: none
  std::string note = {};   // below the chart
  std::vector<Fact> facts = {};
  Table table = {};
  std::string table_name = {};  // the table is folded away under this name
};

struct Page {
  std::string subject;  // "Report": above the heading
  std::string heading;
  std::vector<std::string> summary;  // lines below the heading
  Tone tone = Tone::neutral;         // of the first line
  bool is_grid = false;              // with thumbnails of all entries; otherwise there is one entry
  std::vector<Entry> entries;
  std::vector<Section> sections;
  std::string command;  // that made the page, quoted for a shell
  std::string folder;   // in which it was given, quoted
  std::string remark;   // on giving it again; empty: none
  std::string time;     // when it was made
};

// The style sheet and the script of pages, which are files of src/html/parts at build time.
[[nodiscard]] const EmbeddedFiles& page_files();

// A whole file. It needs its previews and nothing else: no script, font or style from elsewhere.
[[nodiscard]] std::string to_html(const Page& page);

// Everything about the entry: the pictures, what is known of them, their histograms.
[[nodiscard]] std::string detail_markup(const Entry& entry);

}  // namespace gpufilter::html
