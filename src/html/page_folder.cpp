#include "html/page_folder.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

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

namespace gpufilter::html {
namespace {

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

PageFolder::PageFolder(std::string path, EarlierPage earlier)
    : path_(std::move(path)), previews_(std::string(previews_prefix) + process_token()) {
  std::error_code ignored;
  if (path_ == "-") throw UsageError("--report -: a page needs a folder; name one");
  if (fs::exists(path_, ignored) && !is_folder(path_))
    throw UsageError(formatted("{}: is not a folder; --report takes one", printable(path_)));
  try {
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
  } catch (const std::system_error& error) {
    throw SystemFailure(path_, error.code().value());
  }
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
  try {
    AtomicFile file(page());
    file.write(as_bytes(html));
    file.commit();
    is_written_ = true;
    remove_other_previews();
  } catch (const std::system_error& error) {
    throw SystemFailure(page(), error.code().value());
  }
}

}  // namespace gpufilter::html
