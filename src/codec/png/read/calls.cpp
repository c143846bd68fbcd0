#include "codec/png/read/calls.hpp"

#include <csetjmp>
#include <cstring>

#include "base/error.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

PngReport& report_of(png_structp png) {
  return *static_cast<PngReport*>(png_get_error_ptr(png));
}

// The warning about bytes after the end of the compressed pixels. The pixels are complete then, and
// their checksum was right.
constexpr const char* harmless_in_pixels = "IDAT: Extra compressed data";

}  // namespace

void png_take_error(png_structp png, png_const_charp words) {
  PngReport& report = report_of(png);
  std::strncpy(report.words.data(), words, report.words.size() - 1);
  png_longjmp(png, 1);
}

void png_take_warning(png_structp png, png_const_charp words) {
  const PngReport& report = report_of(png);
  if (report.warnings_are_damage && std::strcmp(words, harmless_in_pixels) != 0) {
    png_error(png, words);
  }
  try {
    log::debug(report.name + ": libpng: " + words);
  } catch (const std::exception&) {
    return;  // out of memory for a debug line; an exception must not reach libpng
  }
}

bool png_guarded(png_structp png, void (*body)(const void*), const void* data) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  body(data);
  return true;
}

void png_throw(const PngReport& report) {
  if (report.exception) std::rethrow_exception(report.exception);
  if (report.ended_early) throw PictureError(report.name, "the file ends too early");
  throw PictureError(report.name, report.trouble + ": " + report.words.data());
}

}  // namespace gpufilter
