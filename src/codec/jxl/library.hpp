// libjxl, which is loaded at its first use: its functions, and what converts to and from its pixels
// and colours. The parameters of functions differ between versions 0.7 and 0.11 where it says so
// here.
#pragma once

#include <cstdint>
#include <memory>

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/parallel_runner.h>
#include <jxl/version.h>

#include "base/lazy_library.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct LibJxl : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(JxlDecoderVersion, JxlDecoderCreate, JxlDecoderDestroy,
                              JxlDecoderSetParallelRunner, JxlDecoderSubscribeEvents,
                              JxlDecoderSetKeepOrientation, JxlDecoderSetUnpremultiplyAlpha,
                              JxlDecoderSetCoalescing, JxlDecoderSetDecompressBoxes,
                              JxlDecoderSetInput, JxlDecoderCloseInput, JxlDecoderProcessInput,
                              JxlDecoderGetBasicInfo, JxlDecoderGetExtraChannelInfo,
                              JxlDecoderSetPreferredColorProfile, JxlDecoderGetFrameHeader,
                              JxlDecoderGetBoxType, JxlDecoderSetBoxBuffer,
                              JxlDecoderReleaseBoxBuffer, JxlDecoderSetImageOutBuffer)

  GPUFILTER_LIBRARY_FUNCTIONS(JxlEncoderCreate, JxlEncoderDestroy, JxlEncoderSetParallelRunner,
                              JxlEncoderInitBasicInfo, JxlEncoderSetBasicInfo,
                              JxlColorEncodingSetToSRGB, JxlEncoderSetColorEncoding,
                              JxlEncoderSetICCProfile, JxlEncoderUseBoxes, JxlEncoderAddBox,
                              JxlEncoderFrameSettingsCreate, JxlEncoderFrameSettingsSetOption,
                              JxlEncoderSetFrameLossless, JxlEncoderSetFrameDistance,
                              JxlEncoderAddImageFrame, JxlEncoderCloseInput,
                              JxlEncoderProcessOutput)

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
  GPUFILTER_LIBRARY_FUNCTIONS(JxlDecoderGetColorAsEncodedProfile, JxlDecoderGetICCProfileSize,
                              JxlDecoderGetColorAsICCProfile)

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

// Chooses the colours of the pixels that `decoder` returns, at JXL_DEC_COLOR_ENCODING: lossy files
// with a profile get its primaries and white point, with the curve of sRGB. libjxl would return
// linear colours, which are too coarse in 8 bits.
void choose_jxl_colors(JxlDecoder* decoder);

// Adds to `metadata` what describes the pixels that `decoder` returns, after
// choose_jxl_colors(): sRGB by its rendering intent, all other colours by an ICC profile, PQ and
// HLG by code points too.
void read_jxl_colors(const JxlDecoder* decoder, Metadata& metadata);

// Sets the colours that `metadata` describes, sRGB if it has no description. What JPEG XL cannot
// hold is added to `left_out`. False if libjxl fails.
[[nodiscard]] bool write_jxl_colors(JxlEncoder* encoder, const PixelFormat& format,
                                    const Metadata& metadata, LeftOut& left_out);

}  // namespace gpufilter
