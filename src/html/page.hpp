// Pages for browsers that show what became of pictures, and their folders: index.html, previews,
// and a file that marks the folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
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
  std::string note;     // a short note next to the status
  std::string message;  // why there is no result, or no preview; empty if there is nothing to say
  std::vector<Fact> facts;
  std::optional<Side> before;
  std::optional<Side> after;
  std::string difference;       // the address of its preview; empty: there is none
  std::string difference_text;  // a sentence; empty: not compared
  // Sort keys of entries; a missing one sorts before all numbers.
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

// The style sheet and the script of pages, embedded from src/html/parts at build time.
[[nodiscard]] const EmbeddedFiles& page_files();

// A whole file. It needs its previews and nothing else: no script, font or style from elsewhere.
[[nodiscard]] std::string to_html(const Page& page);

// The details of the entry: its pictures, facts and histograms.
[[nodiscard]] std::string detail_markup(const Entry& entry);

enum class EarlierPage { replaced, refused };

// Holds one page. Its previews are in a subfolder whose name no other run uses, so that an earlier
// page stays whole until the new one replaces it in one step; only then are its previews removed.
// Whatever else the folder holds is left alone.
class PageFolder {
 public:
  // Creates the folder, or checks that it is empty or holds an earlier page or the remains of a
  // killed run, which are removed. Throws UsageError if it holds anything else, or an earlier page
  // that is `refused`, or if another process is writing a page there; PictureError if it cannot be
  // written.
  PageFolder(std::string path, EarlierPage earlier);
  // Without write_page(): removes the previews, and the folder if it is new.
  ~PageFolder();
  PageFolder(const PageFolder&) = delete;
  PageFolder& operator=(const PageFolder&) = delete;

  // The path of a preview called `name`, and its address in the page.
  [[nodiscard]] std::string preview_path(const std::string& name) const;
  [[nodiscard]] std::string preview_address(const std::string& name) const;

  // The path of the page.
  [[nodiscard]] std::string page() const;
  // Call it once. Throws PictureError.
  void write_page(const std::string& html);

 private:
  [[nodiscard]] bool is_empty() const;
  void lock();
  void remove_other_previews() const;

  std::string path_;
  std::string previews_;  // the name of the subfolder
  bool is_new_ = false;   // there was no page before
  bool is_written_ = false;
  FileDescriptor mark_;
};

}  // namespace gpufilter::html
