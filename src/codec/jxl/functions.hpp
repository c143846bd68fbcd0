// The functions of libjxl that are used, from the library that is loaded at their first use. Their
// parameters differ between versions 0.7 and 0.11 where it says so here.
#pragma once

#include <cstdint>
#include <memory>

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/parallel_runner.h>
#include <jxl/version.h>

#include "base/lazy_library.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct LibJxl : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderVersion);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderCreate);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderDestroy);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetParallelRunner);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSubscribeEvents);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetKeepOrientation);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetUnpremultiplyAlpha);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetCoalescing);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetDecompressBoxes);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetInput);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderCloseInput);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderProcessInput);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetBasicInfo);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetExtraChannelInfo);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetPreferredColorProfile);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetFrameHeader);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetBoxType);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetBoxBuffer);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderReleaseBoxBuffer);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderSetImageOutBuffer);

  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderCreate);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderDestroy);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetParallelRunner);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderInitBasicInfo);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetBasicInfo);
  GPUFILTER_LIBRARY_FUNCTION(JxlColorEncodingSetToSRGB);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetColorEncoding);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetICCProfile);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderUseBoxes);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderAddBox);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderFrameSettingsCreate);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderFrameSettingsSetOption);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetFrameLossless);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderSetFrameDistance);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderAddImageFrame);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderCloseInput);
  GPUFILTER_LIBRARY_FUNCTION(JxlEncoderProcessOutput);

  // The description of the colours of the decoded pixels, or of the original. Before 0.9 the second
  // parameter was a pixel format, which had no effect.
  [[nodiscard]] JxlDecoderStatus encoded_profile(const JxlDecoder* decoder,
                                                 JxlColorProfileTarget target,
                                                 JxlColorEncoding* colors) const {
    return call(JxlDecoderGetColorAsEncodedProfile, decoder, target, colors);
  }
  [[nodiscard]] JxlDecoderStatus icc_size(const JxlDecoder* decoder, JxlColorProfileTarget target,
                                          std::size_t* size) const {
    return call(JxlDecoderGetICCProfileSize, decoder, target, size);
  }
  [[nodiscard]] JxlDecoderStatus icc(const JxlDecoder* decoder, JxlColorProfileTarget target,
                                     std::uint8_t* data, std::size_t size) const {
    return call(JxlDecoderGetColorAsICCProfile, decoder, target, data, size);
  }

 private:
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetColorAsEncodedProfile);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetICCProfileSize);
  GPUFILTER_LIBRARY_FUNCTION(JxlDecoderGetColorAsICCProfile);

  template <typename Function, typename... Results>
  static JxlDecoderStatus call(Function function, const JxlDecoder* decoder,
                               JxlColorProfileTarget target, Results... results) {
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    return function(decoder, nullptr, target, results...);
#else
    return function(decoder, target, results...);
#endif
  }
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LibJxl& libjxl();

// Pixels as Image has them.
[[nodiscard]] JxlPixelFormat jxl_format(const PixelFormat& format);

using OwnedJxlDecoder = std::unique_ptr<JxlDecoder, decltype(&::JxlDecoderDestroy)>;
using OwnedJxlEncoder = std::unique_ptr<JxlEncoder, decltype(&::JxlEncoderDestroy)>;

// A JxlParallelRunner, without a state of its own.
JxlParallelRetCode run_for_jxl(void* runner, void* jxl, JxlParallelRunInit init,
                               JxlParallelRunFunction function, std::uint32_t begin,
                               std::uint32_t end);

}  // namespace gpufilter
