// Whether a device codes pictures as the processor does, and decodes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/codec_table.hpp"
#include "device/session.hpp"
#include "image/image.hpp"

namespace gpufilter::lab {

// A format that devices code, with options.
struct CheckedCoding {
  std::string text;  // as on the command line
  const Codec* codec = nullptr;
  WriteOptions options;
};

// For pictures of this format; none if the formats of files that devices code do not hold it.
[[nodiscard]] std::vector<CheckedCoding> checked_codings(const PixelFormat& format, bool quick);

// How the file that `session` codes differs from the processor's, or the picture that it decodes
// from it; nothing if they are equal. Throws DeviceError.
[[nodiscard]] std::optional<std::string> coding_difference(Session& session, const Image& picture,
                                                           const CheckedCoding& coding);

}  // namespace gpufilter::lab
