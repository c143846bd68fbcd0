// Pages of --report in a browser: the divider, the filters, light and dark, and that nothing is
// fetched.
#include <filesystem>

#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

class Browser : public BatchTest {
 protected:
  // Expects that the page in `folder` works; skips the test if there is no browser.
  static void expect_it_works(const std::string& kind, const std::string& folder) {
    // Debian's, for which python3-selenium is installed.
    if (!std::filesystem::exists("/usr/bin/python3"))
      GTEST_SKIP() << "skipped: no /usr/bin/python3";
    const ProcessResult result =
        run_process({"/usr/bin/python3", GPUFILTER_SOURCE "/tests/cli/browse_page.py", kind,
                     folder + "/index.html"});
    constexpr int missing = 77;
    if (result.exit_code == missing) GTEST_SKIP() << "skipped: " << result.out;
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "as expected\n");
  }

  const std::string page_ = folder_ / "it's a <page>";
};

TEST_F(Browser, ShowsOnePicture) {
  put("a.png", {400, 300});
  const ProcessResult result = ended(0, filter({in_ + "/a.png", folder_ / "b.jpg", "--blur", "auto",
                                                "--device", "cpu", "--report", page_, "-q"}));
  expect_it_works("single", page_);
}

TEST_F(Browser, ShowsAFolder) {
  put("b.png", {300, 200});
  put("a.png", {300, 200});
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  EXPECT_EQ(batch({"--report", page_, "-q"}).exit_code, 1);
  expect_it_works("grid", page_);
}

TEST_F(Browser, ShowsAComparison) {
  put("a.png", {400, 300});
  put("b.png", {400, 300});
  EXPECT_EQ(filter({"compare", in_ + "/a.png", in_ + "/b.png", "--report", page_, "-q"}).exit_code,
            2);
  expect_it_works("single", page_);
}

}  // namespace
}  // namespace gpufilter::test
