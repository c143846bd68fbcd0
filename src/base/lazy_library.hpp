// Shared libraries that only some runs need. Loading them with the program would make every start
// slower: libtiff alone brings five others.
#pragma once

#include <stdexcept>

namespace gpufilter {

// The library is not installed, or lacks a function. The message names the library.
class LibraryNotLoaded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A shared library that stays loaded until the program ends. A class that derives from it has a
// member for each function that is used, and one static object, so that the library is loaded when
// that object is first used:
//
//   struct Zlib : LazyLibrary {
//     using LazyLibrary::LazyLibrary;
//     GPUFILTER_LIBRARY_FUNCTION(crc32);
//   };
class LazyLibrary {
 public:
  // `name` is what the dynamic linker finds it by: "libtiff.so.6". Throws LibraryNotLoaded.
  explicit LazyLibrary(const char* name);

 protected:
  // Throws LibraryNotLoaded.
  template <typename Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(address(name));
  }

 private:
  [[nodiscard]] void* address(const char* name) const;

  const char* name_;
  void* handle_;
};

// Declares the member `name` for the function of that name, which a header of the library declares.
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name that is declared takes none
#define GPUFILTER_LIBRARY_FUNCTION(name) decltype(&::name) name = function<decltype(&::name)>(#name)

}  // namespace gpufilter
