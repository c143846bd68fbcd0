#include "app/cli/failure.hpp"

#include <new>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "support/child_process.hpp"
#include "support/names_in.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

TEST(Failure, OnAThreadThatNobodyWatchesEndsTheProgramLikeAnyOther) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  const test::TemporaryFolder folder;
  const test::TemporaryFolder elsewhere;
  const std::string err = elsewhere / "err";
  const auto end_by = [&](auto fail) {
    const int exit_code = test::wait_for_child(test::start_child([&] {
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      std::set_terminate(end_after_failure);
      const AtomicFile file(folder / "out.png");
      std::thread(fail).join();
      return 99;
    }));
    EXPECT_EQ(exit_code, 1);
    EXPECT_EQ(test::names_in(folder.path()), std::vector<std::string>{});
    return test::read_file(err);
  };
  EXPECT_EQ(end_by([] { throw std::bad_alloc(); }),
            "gpufilter: not enough memory for this picture\n");
  EXPECT_EQ(
      end_by([] {
        throw std::runtime_error("pthread_create has failed: Resource temporarily unavailable");
      }),
      "gpufilter: a thread cannot be started, because a limit of processes or memory is "
      "reached; try --threads 1\n");
}

}  // namespace
}  // namespace gpufilter
