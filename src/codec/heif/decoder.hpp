// Decodes the pictures of HEIC and AVIF files and puts them together. libheif decodes one coded
// picture at a time; everything else is done here.
#pragma once

#include <cstddef>
#include <string>

#include "codec/heif/tree.hpp"
#include "codec/read_limits.hpp"
#include "image/image.hpp"

namespace gpufilter {

class HeifDecoder {
 public:
  // `name` and `format` are the file's, in messages. All arguments have to outlive it.
  HeifDecoder(const HeifItems& items, const std::string& name, const std::string& format,
              const ReadLimits& limits)
      : items_(items), name_(name), format_(format), limits_(limits) {}

  // The picture in `format`, which is grey only if the picture is or if only its luma is wanted.
  // Throws PictureError.
  [[nodiscard]] Image decode(const HeifPicture& picture, PixelFormat format);

 private:
  [[nodiscard]] Image decode(const HeifPicture& picture, PixelFormat format, ByteSpan colors) const;
  [[nodiscard]] Image decode_coded(const HeifPicture& picture, PixelFormat format,
                                   ByteSpan colors) const;
  [[nodiscard]] Image decode_parts(const HeifPicture& picture, PixelFormat format,
                                   ByteSpan colors) const;
  void add_alpha(const HeifPicture& picture, Image& image) const;

  const HeifItems& items_;
  const std::string& name_;
  const std::string& format_;
  const ReadLimits& limits_;
  std::size_t at_once_ = 1;  // coded pictures that are decoded in parallel
};

}  // namespace gpufilter
