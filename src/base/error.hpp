// The library's exceptions: those that are public, and failures of the operating system.
#pragma once

#include <string_view>

#include <gpufilter/error.hpp>  // IWYU pragma: export

namespace gpufilter {

// A failure of the operating system with a file, whose cause decides how a run goes on.
class SystemFailure : public PictureError {
 public:
  // `error` is an errno; the message gives its text as the reason.
  SystemFailure(std::string_view name, int error);
  SystemFailure(std::string_view name, std::string_view reason, int error);

  [[nodiscard]] int error() const { return error_; }

 private:
  int error_;
};

// Whether an errno means that a file system, or the user's quota of it, is full.
[[nodiscard]] bool is_out_of_space(int error);
// Whether an errno means that too many files are open.
[[nodiscard]] bool is_out_of_files(int error);

// Standard output is a pipe whose reader has gone, such as `head`: it has all that it wanted, and
// the program ends silently, as by SIGPIPE.
class ClosedPipe : public PictureError {
 public:
  ClosedPipe() : PictureError("standard output", "the reader closed the pipe") {}
};

}  // namespace gpufilter
