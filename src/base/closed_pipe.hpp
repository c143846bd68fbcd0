// Standard output is a pipe whose reader has gone, such as `head`.
#pragma once

#include "base/error.hpp"

namespace gpufilter {

// The program ends silently, as by SIGPIPE: the reader has all that it wanted.
class ClosedPipe : public PictureError {
 public:
  ClosedPipe() : PictureError("standard output", "the reader closed the pipe") {}
};

}  // namespace gpufilter
