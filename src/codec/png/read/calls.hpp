// Calls libpng from C++. Its errors return by longjmp, which runs no destructors, and no exception
// may pass through its C functions.
#pragma once

#include <array>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <png.h>

namespace gpufilter {

// What libpng's callbacks report to the C++ code that called libpng.
struct PngReport {
  std::string name;                        // of the file, for messages
  std::string trouble;                     // the message before libpng's words: "damaged PNG"
  std::array<char, 200> words{};           // libpng's, of the error that ended the call
  std::exception_ptr exception = nullptr;  // thrown by a source, a sink or an allocation
  bool ended_early = false;                // the source has no more bytes
  bool warnings_are_damage = false;        // while pixels are decoded

  PngReport(std::string of_file, std::string of_trouble)
      : name(std::move(of_file)), trouble(std::move(of_trouble)) {}
};

// The error and warning functions for png_create_*_struct, whose error pointer is a PngReport.
// Warnings go to log::debug; while `warnings_are_damage` they are errors.
[[noreturn]] void png_take_error(png_structp png, png_const_charp words);
void png_take_warning(png_structp png, png_const_charp words);

// Calls body(data). False if libpng left it with an error.
[[nodiscard]] bool png_guarded(png_structp png, void (*body)(const void*), const void* data);

// Throws the exception in the report or, if there is none, a PictureError with libpng's words.
[[noreturn]] void png_throw(const PngReport& report);

// Calls `body`, which calls libpng. An error is thrown as by png_throw(). Neither `body` nor the
// functions that it calls may own anything with a destructor, since longjmp does not run it.
template <typename Body>
void png_call(png_structp png, const PngReport& report, const Body& body) {
  static_assert(std::is_trivially_destructible_v<Body>);
  if (!png_guarded(
          png, [](const void* data) { (*static_cast<const Body*>(data))(); }, &body)) {
    png_throw(report);
  }
}

}  // namespace gpufilter
