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

namespace gpufilter {

// The functions of libtiff that are used, from the library that is loaded at their first use.
struct LibTiff : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTION(TIFFGetVersion);
  GPUFILTER_LIBRARY_FUNCTION(TIFFClientOpenExt);
  GPUFILTER_LIBRARY_FUNCTION(TIFFOpenOptionsAlloc);
  GPUFILTER_LIBRARY_FUNCTION(TIFFOpenOptionsFree);
  GPUFILTER_LIBRARY_FUNCTION(TIFFOpenOptionsSetMaxSingleMemAlloc);
  GPUFILTER_LIBRARY_FUNCTION(TIFFOpenOptionsSetErrorHandlerExtR);
  GPUFILTER_LIBRARY_FUNCTION(TIFFOpenOptionsSetWarningHandlerExtR);
  GPUFILTER_LIBRARY_FUNCTION(TIFFFlush);
  GPUFILTER_LIBRARY_FUNCTION(TIFFClose);

  GPUFILTER_LIBRARY_FUNCTION(TIFFGetField);
  GPUFILTER_LIBRARY_FUNCTION(TIFFGetFieldDefaulted);
  GPUFILTER_LIBRARY_FUNCTION(TIFFSetField);
  GPUFILTER_LIBRARY_FUNCTION(TIFFIsBigTIFF);
  GPUFILTER_LIBRARY_FUNCTION(TIFFIsByteSwapped);
  GPUFILTER_LIBRARY_FUNCTION(TIFFIsCODECConfigured);
  GPUFILTER_LIBRARY_FUNCTION(TIFFIsTiled);
  GPUFILTER_LIBRARY_FUNCTION(TIFFNumberOfDirectories);

  GPUFILTER_LIBRARY_FUNCTION(TIFFScanlineSize64);
  GPUFILTER_LIBRARY_FUNCTION(TIFFStripSize64);
  GPUFILTER_LIBRARY_FUNCTION(TIFFVStripSize64);
  GPUFILTER_LIBRARY_FUNCTION(TIFFTileSize64);
  GPUFILTER_LIBRARY_FUNCTION(TIFFTileRowSize64);
  GPUFILTER_LIBRARY_FUNCTION(TIFFComputeStrip);
  GPUFILTER_LIBRARY_FUNCTION(TIFFComputeTile);
  GPUFILTER_LIBRARY_FUNCTION(TIFFReadEncodedStrip);
  GPUFILTER_LIBRARY_FUNCTION(TIFFReadEncodedTile);
  GPUFILTER_LIBRARY_FUNCTION(TIFFReadScanline);
  GPUFILTER_LIBRARY_FUNCTION(TIFFWriteEncodedStrip);

  GPUFILTER_LIBRARY_FUNCTION(TIFFNumberOfStrips);
  GPUFILTER_LIBRARY_FUNCTION(TIFFNumberOfTiles);
  GPUFILTER_LIBRARY_FUNCTION(TIFFGetStrileOffset);
  GPUFILTER_LIBRARY_FUNCTION(TIFFGetStrileByteCount);
  GPUFILTER_LIBRARY_FUNCTION(TIFFReverseBits);
  GPUFILTER_LIBRARY_FUNCTION(TIFFRGBAImageBegin);
  GPUFILTER_LIBRARY_FUNCTION(TIFFRGBAImageGet);
  GPUFILTER_LIBRARY_FUNCTION(TIFFRGBAImageEnd);
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LibTiff& libtiff();

// How libtiff reaches the bytes of a file. They may throw.
struct TiffBytes {
  std::function<std::size_t(std::uint64_t offset, std::span<std::uint8_t>)> read;
  std::function<void(std::uint64_t offset, std::span<const std::uint8_t>)> write;
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
