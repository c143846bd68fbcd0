// Makes libtiff safe to use from C++: files are reached through our own functions, exceptions never
// pass through its stack frames, and it prints nothing.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <tiffio.h>

#include "base/lazy_library.hpp"
#include "image/tiff.hpp"

namespace gpufilter {

// The functions of libtiff that are used, from the library that is loaded at their first use.
struct LibTiff : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(TIFFGetVersion, TIFFClientOpenExt, TIFFOpenOptionsAlloc,
                              TIFFOpenOptionsFree, TIFFOpenOptionsSetMaxSingleMemAlloc,
                              TIFFOpenOptionsSetErrorHandlerExtR,
                              TIFFOpenOptionsSetWarningHandlerExtR, TIFFFlush, TIFFClose)

  GPUFILTER_LIBRARY_FUNCTIONS(TIFFGetField, TIFFGetFieldDefaulted, TIFFSetField, TIFFIsBigTIFF,
                              TIFFIsByteSwapped, TIFFIsCODECConfigured, TIFFIsTiled,
                              TIFFNumberOfDirectories)

  GPUFILTER_LIBRARY_FUNCTIONS(TIFFScanlineSize64, TIFFStripSize64, TIFFVStripSize64, TIFFTileSize64,
                              TIFFTileRowSize64, TIFFComputeStrip, TIFFComputeTile,
                              TIFFReadEncodedStrip, TIFFReadEncodedTile, TIFFReadScanline,
                              TIFFWriteEncodedStrip)

  GPUFILTER_LIBRARY_FUNCTIONS(TIFFNumberOfStrips, TIFFNumberOfTiles, TIFFGetStrileOffset,
                              TIFFGetStrileByteCount, TIFFReverseBits, TIFFRGBAImageBegin,
                              TIFFRGBAImageGet, TIFFRGBAImageEnd)
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LibTiff& libtiff();

using TiffWriteAt = std::function<void(std::uint64_t offset, std::span<const std::uint8_t>)>;

// How libtiff reaches the bytes of a file. They may throw.
struct TiffBytes {
  TiffReadAt read;
  TiffWriteAt write;
  std::function<std::uint64_t()> size;
};

class TiffFile {
 public:
  // `mode` is TIFFClientOpen()'s, `trouble` begins the messages: "damaged TIFF". No single
  // allocation of libtiff is larger than `max_allocation`. Throws PictureError.
  TiffFile(const std::string& name, const char* mode, TiffBytes bytes, std::string trouble,
           std::uint64_t max_allocation);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  [[nodiscard]] TIFF* get() const { return tiff_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The value of a tag, its default if it has one, otherwise 0.
  template <typename Value>
  [[nodiscard]] Value field(std::uint32_t tag) const {
    Value value{};
    libtiff().TIFFGetFieldDefaulted(get(), tag, &value);
    return value;
  }

  // The tags of a file that is read that libtiff ignores although it knows them, in its words;
  // empty if there are none.
  [[nodiscard]] const std::string& ignored() const { return ignored_; }

  // Throws what a function of TiffBytes threw, or PictureError with libtiff's words, unless a call
  // of libtiff was a `success` without any error: libtiff makes up pixels after some, and after
  // most of what it only warns of once the file is open. A later call has its own words.
  void check(bool success) const;

  // Pages, as far as they can be found.
  [[nodiscard]] std::size_t pages() const;

  [[noreturn]] void refuse(const std::string& why) const;

  // Completes a file that is written.
  void flush() { check(libtiff().TIFFFlush(get()) == 1); }

 private:
  struct Client;
  template <typename Step>
  static auto guarded(thandle_t handle, Step step) -> decltype(step(std::declval<Client&>()));

  std::string name_;
  std::string trouble_;
  std::string ignored_;
  std::unique_ptr<Client, void (*)(Client*)> client_;
  std::unique_ptr<TIFF, void (*)(TIFF*)> tiff_;
};

}  // namespace gpufilter
