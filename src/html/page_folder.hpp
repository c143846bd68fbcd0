// The folder of a page: index.html, its previews, and a file that marks the folder.
#pragma once

#include <string>

#include "base/files.hpp"

namespace gpufilter::html {

enum class EarlierPage { replaced, refused };

// Holds one page. Its previews are in a subfolder whose name no other run uses, so that an earlier
// page stays whole until the new one replaces it in one step; only then are its previews removed.
// Whatever else the folder holds is left alone.
class PageFolder {
 public:
  // Creates the folder, or checks that it is empty or holds an earlier page, or what a killed run
  // has left, which is removed. Throws UsageError if it holds anything else, or an earlier page
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
  // Once. Throws PictureError.
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
