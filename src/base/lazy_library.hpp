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
//     GPUFILTER_LIBRARY_FUNCTIONS(crc32, adler32)
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

// Declares a member for each function of these names, which a header of the library declares. The
// preprocessor has no loops: each expansion of the list declares its first name, up to 64 times.
#define GPUFILTER_LIBRARY_FUNCTIONS(...) GPUFILTER_AGAIN_3(GPUFILTER_LIBRARY_FUNCTION(__VA_ARGS__))
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name that is declared takes none
#define GPUFILTER_LIBRARY_FUNCTION(name, ...)                  \
  decltype(&::name) name = function<decltype(&::name)>(#name); \
  __VA_OPT__(GPUFILTER_NEXT_FUNCTION GPUFILTER_NO_ARGUMENTS(__VA_ARGS__))
#define GPUFILTER_NEXT_FUNCTION() GPUFILTER_LIBRARY_FUNCTION
#define GPUFILTER_NO_ARGUMENTS ()
#define GPUFILTER_AGAIN_3(...) \
  GPUFILTER_AGAIN_2(GPUFILTER_AGAIN_2(GPUFILTER_AGAIN_2(GPUFILTER_AGAIN_2(__VA_ARGS__))))
#define GPUFILTER_AGAIN_2(...) \
  GPUFILTER_AGAIN_1(GPUFILTER_AGAIN_1(GPUFILTER_AGAIN_1(GPUFILTER_AGAIN_1(__VA_ARGS__))))
#define GPUFILTER_AGAIN_1(...) __VA_ARGS__

}  // namespace gpufilter
