#include "base/lazy_library.hpp"

#include <dlfcn.h>

#include "base/format.hpp"

namespace gpufilter {

LazyLibrary::LazyLibrary(const char* name)
    : name_(name), handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw LibraryNotLoaded(formatted("cannot be loaded: {}", dlerror()));
}

void* LazyLibrary::address(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw LibraryNotLoaded(
        formatted("another version of {} is needed: it has no {}()", name_, name));
  }
  return found;
}

}  // namespace gpufilter
