// A page for browsers (--report): its folder, its pictures, how it was made.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "html/page.hpp"
#include "html/survey.hpp"

namespace gpufilter {

class ReportPage {
 public:
  // How the page calls the two pictures of an entry.
  struct Labels {
    std::string before;
    std::string after;
  };

  // Claims the folder. `earlier` says what becomes of a page that is there already. Throws
  // UsageError, PictureError.
  ReportPage(const std::string& folder, html::EarlierPage earlier, Labels labels,
             const ReadLimits& limits, const Tolerance& tolerance = {});

  // Before the first look: how many entries there will be at most.
  void expect(std::size_t entries) { previews_ = html::preview_limits(entries); }

  // Makes the previews of an entry from its two pictures; either may be nullptr. `index` is the
  // entry's number on the page, from 1. Safe to call from several threads. Does not throw.
  void look(std::size_t index, std::unique_ptr<ByteSource> before,
            std::unique_ptr<ByteSource> after);

  // An entry with what there is to see of its pictures; if one of them could not be read, it says
  // why. Once for each index.
  [[nodiscard]] html::Entry take(std::size_t index);
  // The next entry of the page.
  void add(html::Entry entry) { entries_.push_back(std::move(entry)); }
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }

  // Adds the entries and how the page was made, writes it, and says so on standard error unless
  // `quiet`. `command_line` is quoted for a shell. Throws PictureError, also if a preview could not
  // be written.
  void publish(html::Page page, const std::string& command_line, bool quiet);

 private:
  [[nodiscard]] html::Entry entry_of(std::size_t index, std::unique_ptr<ByteSource> before,
                                     std::unique_ptr<ByteSource> after) const;

  html::PageFolder folder_;
  html::PreviewLimits previews_;
  Labels labels_;
  ReadLimits limits_;
  Tolerance tolerance_;
  std::mutex mutex_;                             // guards the next two
  std::map<std::size_t, html::Entry> looked_;    // by index
  std::optional<html::PreviewFailure> failure_;  // the first; no previews are made after it
  std::vector<html::Entry> entries_;
};

// Opens a picture for a preview; nullptr if that fails, which the picture's report mentions.
[[nodiscard]] std::unique_ptr<ByteSource> opened(const std::string& path);

// For pages about pictures that were replaced.
inline constexpr const char* replaced_remark =
    "The pictures were replaced: the command would filter the results again.";

}  // namespace gpufilter
