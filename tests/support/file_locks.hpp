// File systems that do not keep locks.
#pragma once

namespace gpufilter::test {

// From now on flock(2) does nothing in this process and in those that it starts: it fails with
// `error` or, where that is 0, seems to succeed, as on file systems that keep locks to one machine.
// Whether that was possible.
[[nodiscard]] bool forget_locks(int error);

}  // namespace gpufilter::test
