// The process that this code is a guest in, if it is a library.
#pragma once

namespace gpufilter {

// From now on this process belongs to a program that uses the library; see below.
void become_guest();

// Whether environment variables may be changed: always in our own program; as a guest, only while
// no other thread may be reading them.
[[nodiscard]] bool may_change_environment();

}  // namespace gpufilter
