// Decoding in a process of its own: a library that crashes on a damaged file fails one picture.
#pragma once

#include <string>

#include "codec/codec.hpp"
#include "codec/read_limits.hpp"
#include "image/image.hpp"

namespace gpufilter {

// automatic: files of libraries that are known to crash.
enum class Isolation { automatic, on, off };
void set_isolation(Isolation isolation);
// Whether files are decoded apart whose library is `known_to_crash`. Never in a program that does
// not call answer_decoding(): it cannot be started for that.
[[nodiscard]] bool decodes_apart(bool known_to_crash);

// The pixels of `file`, a whole picture with this header, decoded by this program in another
// process with limits of time and memory. Throws PictureError (`name`) also if that process
// crashes, and Stopped.
[[nodiscard]] Image decode_apart(const std::string& name, ByteSpan file,
                                 const PictureHeader& header, const ReadLimits& limits);

// At the beginning of main(): does not return in a process that decode_apart() has started.
void answer_decoding(int argc, const char* const* argv);

}  // namespace gpufilter
