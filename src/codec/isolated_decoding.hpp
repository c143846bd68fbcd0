// Decoding in a separate process: a library that crashes on a damaged file fails one picture.
#pragma once

#include <string>

#include "codec/codec.hpp"
#include "codec/read_limits.hpp"
#include "image/image.hpp"

namespace gpufilter {

// automatic: only files whose library is known to crash.
enum class Isolation { automatic, on, off };
void set_isolation(Isolation isolation);
// Whether files are decoded in another process if their library is `known_to_crash`. Never in a
// program that does not call answer_isolated_decoding(): it cannot be started for that.
[[nodiscard]] bool needs_isolation(bool known_to_crash);

// The pixels of `file`, a whole picture with this header, decoded by this program in another
// process with limits of time and memory. Throws PictureError (`name`) also if that process
// crashes, and Stopped.
[[nodiscard]] Image decode_isolated(const std::string& name, ByteSpan file,
                                    const PictureHeader& header, const ReadLimits& limits);

// At the beginning of main(): does not return in a process that decode_isolated() has started.
void answer_isolated_decoding(int argc, const char* const* argv);

}  // namespace gpufilter
