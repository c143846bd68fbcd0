// Simulates file systems without locks.
#pragma once

namespace gpufilter::test {

// From now on flock(2) does nothing in this process and in those that it starts: it fails with
// `error` or, if that is 0, seems to succeed, as on file systems whose locks are local to a
// machine. Returns whether that was possible.
[[nodiscard]] bool forget_locks(int error);

}  // namespace gpufilter::test
