// libheif, which is loaded at its first use.
#pragma once

#include <memory>

#include <libheif/heif.h>

#include "base/lazy_library.hpp"

namespace gpufilter {

struct LibHeif : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(heif_get_version, heif_init)

  GPUFILTER_LIBRARY_FUNCTIONS(heif_context_alloc, heif_context_free)
#if LIBHEIF_HAVE_VERSION(1, 19, 0)
  GPUFILTER_LIBRARY_FUNCTIONS(heif_context_get_security_limits)
#else
  GPUFILTER_LIBRARY_FUNCTIONS(heif_context_set_maximum_image_size_limit)
#endif
  GPUFILTER_LIBRARY_FUNCTIONS(heif_context_read_from_memory_without_copy,
                              heif_context_get_primary_image_handle)

  GPUFILTER_LIBRARY_FUNCTIONS(heif_image_handle_release, heif_nclx_color_profile_alloc,
                              heif_nclx_color_profile_free,
                              heif_nclx_color_profile_set_color_primaries,
                              heif_nclx_color_profile_set_transfer_characteristics)

  GPUFILTER_LIBRARY_FUNCTIONS(heif_decoding_options_alloc, heif_decoding_options_free,
                              heif_decode_image, heif_image_create, heif_image_release,
                              heif_image_add_plane, heif_image_get_plane, heif_image_get_width,
                              heif_image_get_height, heif_image_get_bits_per_pixel_range,
                              heif_image_get_nclx_color_profile, heif_image_set_raw_color_profile,
                              heif_image_set_nclx_color_profile)

  GPUFILTER_LIBRARY_FUNCTIONS(heif_have_encoder_for_format, heif_context_get_encoder_for_format,
                              heif_encoder_release, heif_encoder_set_lossy_quality,
                              heif_encoder_set_lossless, heif_encoder_set_parameter,
                              heif_encoding_options_alloc, heif_encoding_options_free,
                              heif_context_encode_image, heif_context_add_exif_metadata,
                              heif_context_add_XMP_metadata, heif_context_write)
};

// Throws LibraryNotLoaded.
[[nodiscard]] const LibHeif& libheif();

// Objects of libheif and the functions that free them.
using HeifContext = std::unique_ptr<heif_context, decltype(&::heif_context_free)>;
using HeifHandle = std::unique_ptr<heif_image_handle, decltype(&::heif_image_handle_release)>;
using HeifImage = std::unique_ptr<heif_image, decltype(&::heif_image_release)>;
using HeifEncoder = std::unique_ptr<heif_encoder, decltype(&::heif_encoder_release)>;
using HeifNclx =
    std::unique_ptr<heif_color_profile_nclx, decltype(&::heif_nclx_color_profile_free)>;

// The interleaved pixels of a heif_image: RGB or RGBA of 8 bits, or of 16 in the machine's order of
// which only some are used.
[[nodiscard]] heif_chroma interleaved_chroma(int channels, int depth);

}  // namespace gpufilter
