// The functions of libwebp and libwebpmux that are used, from the libraries that are loaded at
// their first use. The libraries' headers define some of their functions, such as WebPDecode's
// WebPInitDecoderConfig(), as calls of others with the version of the interface; here are the
// others.
#pragma once

#include <memory>

#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "base/lazy_library.hpp"

namespace gpufilter {

struct LibWebp : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTION(WebPGetDecoderVersion);
  GPUFILTER_LIBRARY_FUNCTION(WebPGetFeaturesInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPInitDecoderConfigInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPDecode);
  GPUFILTER_LIBRARY_FUNCTION(WebPIDecode);
  GPUFILTER_LIBRARY_FUNCTION(WebPIUpdate);
  GPUFILTER_LIBRARY_FUNCTION(WebPIDecGetRGB);
  GPUFILTER_LIBRARY_FUNCTION(WebPIDelete);

  GPUFILTER_LIBRARY_FUNCTION(WebPConfigInitInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPPictureInitInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPPictureAlloc);
  GPUFILTER_LIBRARY_FUNCTION(WebPPictureFree);
  GPUFILTER_LIBRARY_FUNCTION(WebPMemoryWriterInit);
  GPUFILTER_LIBRARY_FUNCTION(WebPMemoryWriterClear);
  GPUFILTER_LIBRARY_FUNCTION(WebPMemoryWrite);
  GPUFILTER_LIBRARY_FUNCTION(WebPEncode);

  GPUFILTER_LIBRARY_FUNCTION(WebPNewInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxCreateInternal);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxDelete);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxGetFrame);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxNumChunks);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxSetChunk);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxSetImage);
  GPUFILTER_LIBRARY_FUNCTION(WebPMuxAssemble);
  GPUFILTER_LIBRARY_FUNCTION(WebPFree);
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LibWebp& libwebp();

using OwnedMux = std::unique_ptr<WebPMux, decltype(&::WebPMuxDelete)>;
[[nodiscard]] inline OwnedMux owned(WebPMux* mux) {
  return {mux, libwebp().WebPMuxDelete};
}

}  // namespace gpufilter
