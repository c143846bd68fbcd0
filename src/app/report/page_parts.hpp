// What the pages of --report have in common.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/filter/stage_options.hpp"
#include "app/folder/batch_totals.hpp"
#include "html/page.hpp"
#include "html/page_folder.hpp"
#include "html/small_picture.hpp"
#include "html/survey.hpp"

namespace gpufilter {

// Makes the previews of a page.
class PagePreviews {
 public:
  // How the page calls the two pictures of an entry.
  struct Labels {
    std::string before;
    std::string after;
  };

  // For a page of `pictures` pictures; `folder` outlives this.
  PagePreviews(const html::PageFolder& folder, std::size_t pictures, Labels labels,
               const ReadLimits& limits, const Tolerance& tolerance = {});

  // Looks at the two pictures of an entry; either may be nullptr. `index` is the entry's number on
  // the page. Safe to call from several threads. Does not throw.
  void look(std::size_t index, std::unique_ptr<ByteSource> before,
            std::unique_ptr<ByteSource> after);

  // An entry with what there is to see of its pictures; if one of them could not be read, it says
  // why. Once for each index.
  [[nodiscard]] html::Entry take(std::size_t index);

  // Throws PictureError if a preview could not be written.
  void check() const;

 private:
  [[nodiscard]] html::Entry entry_of(std::size_t index, std::unique_ptr<ByteSource> before,
                                     std::unique_ptr<ByteSource> after) const;

  const html::PageFolder& folder_;
  html::PreviewLimits previews_;
  Labels labels_;
  ReadLimits limits_;
  Tolerance tolerance_;
  mutable std::mutex mutex_;                     // guards the next two
  std::map<std::size_t, html::Entry> entries_;   // by index
  std::optional<html::PreviewFailure> failure_;  // the first; no previews are made after it
};

// Opens a picture for a preview; nullptr if that fails, which the report on the picture says.
[[nodiscard]] std::unique_ptr<ByteSource> opened(const std::string& path);

// "1920x1280, RGB, 8-bit; JPEG, 1.6 MB"; `bytes` of the file, 0 if that is unknown.
[[nodiscard]] std::string file_text(ImageSize size, const FilePixels& pixels, const Codec* format,
                                    std::uint64_t bytes);

// "EXIF 6, applied"
[[nodiscard]] std::string orientation_text(int orientation, bool is_applied);

// The stages of a run, as they were typed.
[[nodiscard]] html::Section stage_section(const std::vector<StageOptions::Typed>& stages);

// Where the time of a run went: a chart, the total, a table.
[[nodiscard]] html::Section time_section(const BatchTotals& totals, Nanoseconds elapsed);

// The devices that were used, and why.
[[nodiscard]] html::Section device_section(const BatchTotals& totals);

// For pages about pictures that were replaced.
inline constexpr const char* replaced_remark =
    "The pictures were replaced: the command filters what it made of them.";

// Adds how the page was made, writes it, and says so on standard error unless `quiet`.
// `command_line` is quoted for a shell. Throws PictureError.
void publish(html::Page page, html::PageFolder& folder, const std::string& command_line,
             bool quiet);

}  // namespace gpufilter
