#include "pipeline/run/output_metadata.hpp"

#include <stdexcept>

#include "base/lazy_library.hpp"
#include "image/exif.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {
namespace {

// Colours that no profile can be made for stay as they are, and the writer names them.
void describe_colors(Metadata& metadata, const PixelFormat& format, ColorTags tags) {
  if (tags == ColorTags::none || tags == ColorTags::numbers) return;
  try {
    const auto profile = profile_of_named_colors(metadata, format);
    if (!profile) return;
    if (metadata.coding_points && tags == ColorTags::points) {
      metadata.icc_profile.reset();  // code points count, and readers would prefer it
    } else {
      set_profile(metadata, *profile);
    }
  } catch (const UnusableProfile&) {
  } catch (const RefusedColors&) {
  } catch (const LibraryNotLoaded&) {
  }
}

}  // namespace

void adapt_metadata(Metadata& metadata, const PictureShape& picture, const Codec& codec) {
  set_exif_size(metadata, picture.size);
  describe_colors(metadata, picture.format, codec.color_tags);
}

}  // namespace gpufilter
