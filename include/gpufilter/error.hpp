// The few kinds of failure. The library only throws them; the program turns them into one line on
// standard error and an exit code, in one place (app/cli/main.cpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gpufilter {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The request makes no sense; found before any picture is touched. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// One picture cannot be read, filtered or written; others still can. Exit code 1.
class PictureError : public Error {
 public:
  // `name` is the path as the user gave it, or "standard input" / "standard output".
  PictureError(std::string_view name, std::string_view reason)
      : Error(std::string(name) + ": " + std::string(reason)) {}
};

// The requested device does not exist or does not work. Exit code 3.
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace gpufilter
