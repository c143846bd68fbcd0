#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "codec/formats.hpp"
#include "codec/tiff/library.hpp"

namespace gpufilter {
namespace {

// The version is the last word of the first line: "LIBTIFF, Version 4.5.0".
std::string tiff_libraries() {
  std::string_view text = libtiff().TIFFGetVersion();
  text = text.substr(0, text.find('\n'));
  return formatted("libtiff {}", text.substr(text.rfind(' ') + 1));
}

// The file's name for libtiff: the words have room for it.
constexpr const char* short_name = "TIFF";

// A fixed array, as callbacks must not throw.
using Words = std::array<char, 200>;

}  // namespace

const WriteOption& tiff_compression_option() {
  static const WriteOption option{"tiff-compression",
                                  WriteOption::Choice{{"auto", "none", "lzw", "deflate"}}, "auto",
                                  "Compression of TIFF output. auto: the TIFF input's if it is one "
                                  "of these, otherwise deflate. All of them are lossless."};
  return option;
}

const Codec& tiff_codec() {
  static const Codec codec{.name = "TIFF",
                           .extensions = {".tif", ".tiff"},
                           .signatures = {{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}},
                           .holds_alpha = true,
                           .color_tags = ColorTags::profile,
                           .holds_late_metadata = false,
                           .max_depth = float_depth,
                           .is_lossless = true,
                           .decoding = {"decode TIFF", 4e-9, 0},
                           .encoding = {"encode TIFF", 50e-9, 0},
                           .options = {&tiff_compression_option(), &strip_option(), &keep_option()},
                           .open = open_tiff,
                           .create = create_tiff,
                           .libraries = tiff_libraries,
                           .loaded_later = "libtiff " GPUFILTER_TIFF_VERSION};
  return codec;
}

const LibTiff& libtiff() {
  static const LibTiff library(GPUFILTER_TIFF_LIBRARY);
  return library;
}

struct TiffFile::Client {
  TiffBytes bytes;
  std::uint64_t position = 0;
  std::exception_ptr thrown;
  bool is_open = false;
  Words words{};    // libtiff's first error
  Words ignored{};  // the first that concerns only a description
};

namespace {

// Some of libtiff's messages begin with it.
std::string without_name(const Words& words) {
  static const std::string begin = std::string(short_name) + ": ";
  std::string_view text = words.data();
  if (text.starts_with(begin)) text.remove_prefix(begin.size());
  return printable(text);
}

bool has_part(const Words& words, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) {
    return std::string_view(words.data()).find(part) != std::string_view::npos;
  });
}

// Whether it is an error in a tag that says nothing about the pixels.
bool is_about_description(const Words& words) {
  static constexpr std::array<std::string_view, 5> tags{
      "for \"Orientation\" tag", "for \"ResolutionUnit\" tag", "for \"XResolution\" tag",
      "for \"YResolution\" tag", "for \"Threshholding\" tag"};
  return has_part(words, tags);
}

// Whether pixels are still as the encoder meant them despite this warning. libjpeg's harmless
// warnings are the same as in JPEG files.
bool is_harmless(const Words& words) {
  static constexpr std::array<std::string_view, 12> harmless{
      "Old-style LZW codes",
      "Try to decode (read) fax Group 3 data without EOL",
      "uto-correct",  // subsampling, as the JPEG data has it
      "Subsampling values inside JPEG",
      "JPEG strip size exceeds expected dimensions",
      "encoded with progressive mode",
      "extraneous bytes before marker",
      "Unknown Adobe color transform",
      "bad ICC marker",
      "unknown JFIF revision",
      "Invalid SOS parameters for sequential JPEG",
      "mozjpeg library likely detected"};
  return has_part(words, harmless);
}

}  // namespace

// The result of `step`, or -1, a failure for libtiff, if it throws.
template <typename Step>
auto TiffFile::guarded(thandle_t handle, Step step) -> decltype(step(std::declval<Client&>())) {
  Client& client = *static_cast<Client*>(handle);
  try {
    return step(client);
  } catch (...) {
    if (!client.thrown) client.thrown = std::current_exception();
    return static_cast<decltype(step(client))>(-1);
  }
}

TiffFile::TiffFile(const std::string& name, const char* mode, TiffBytes bytes, std::string trouble,
                   std::uint64_t max_allocation)
    : name_(name),
      trouble_(std::move(trouble)),
      client_(new Client, [](Client* client) { delete client; }),
      tiff_(nullptr, libtiff().TIFFClose) {
  client_->bytes = std::move(bytes);
  const auto read = [](thandle_t handle, void* data, tmsize_t size) {
    return guarded(handle, [&](Client& client) {
      const std::span into(static_cast<std::uint8_t*>(data), static_cast<std::size_t>(size));
      const std::size_t count = client.bytes.read(client.position, into);
      client.position += count;
      return static_cast<tmsize_t>(count);
    });
  };
  const auto write = [](thandle_t handle, void* data, tmsize_t size) {
    return guarded(handle, [&](Client& client) {
      client.bytes.write(client.position,
                         {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)});
      client.position += static_cast<std::uint64_t>(size);
      return size;
    });
  };
  const auto seek = [](thandle_t handle, toff_t offset, int whence) {
    return guarded(handle, [&](Client& client) -> toff_t {
      const std::uint64_t from = whence == SEEK_SET   ? 0
                                 : whence == SEEK_CUR ? client.position
                                                      : client.bytes.size();
      return client.position = from + offset;
    });
  };
  const auto size = [](thandle_t handle) {
    return guarded(handle, [](Client& client) -> toff_t { return client.bytes.size(); });
  };
  const auto take_error = [](TIFF*, void* handle, const char*, const char* format, va_list list) {
    Client& client = *static_cast<Client*>(handle);
    Words words{};
    std::vsnprintf(words.data(), words.size(), format, list);
    Words& kept = is_about_description(words) ? client.ignored : client.words;
    if (kept[0] == '\0') kept = words;
    return 1;
  };
  const auto take_warning = [](TIFF*, void* handle, const char*, const char* format, va_list list) {
    Client& client = *static_cast<Client*>(handle);
    Words words{};
    std::vsnprintf(words.data(), words.size(), format, list);
    if (client.is_open && client.words[0] == '\0' && !is_harmless(words)) client.words = words;
    return 1;
  };
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
      libtiff().TIFFOpenOptionsAlloc(), libtiff().TIFFOpenOptionsFree);
  libtiff().TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                                static_cast<tmsize_t>(max_allocation));
  libtiff().TIFFOpenOptionsSetErrorHandlerExtR(options.get(), take_error, client_.get());
  libtiff().TIFFOpenOptionsSetWarningHandlerExtR(options.get(), take_warning, client_.get());
  tiff_.reset(libtiff().TIFFClientOpenExt(
      short_name, mode, client_.get(), read, write, seek, [](thandle_t) { return 0; }, size,
      nullptr, nullptr, options.get()));
  check(tiff_ != nullptr);
  client_->is_open = true;
  ignored_ = without_name(client_->ignored);
}

void TiffFile::check(bool success) const {
  if (client_->thrown) std::rethrow_exception(std::exchange(client_->thrown, nullptr));
  const std::string words = without_name(std::exchange(client_->words, {}));
  if (success && words.empty()) return;
  refuse(words.empty() ? "libtiff does not say why" : words);
}

std::size_t TiffFile::pages() const {
  const std::size_t count = libtiff().TIFFNumberOfDirectories(get());
  client_->words = {};  // about the other pages
  return count;
}

void TiffFile::refuse(const std::string& why) const {
  throw PictureError(name_, formatted("{}: {}", trouble_, why));
}

}  // namespace gpufilter
