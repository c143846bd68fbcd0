#include "support/json_schema.hpp"

#include <sstream>
#include <system_error>

#include "support/pictures.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {

bool has_schema_validator() {
  try {
    return run_process({"python3", "-c", "from jsonschema import Draft202012Validator"})
               .exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

std::vector<bool> accepted_by_schema(const std::string& name,
                                     const std::vector<std::string>& texts) {
  const TemporaryFolder folder;
  std::vector<std::string> command{"python3", GPUFILTER_SOURCE "/tests/docs/check_schema.py",
                                   GPUFILTER_SOURCE "/docs/" + name};
  for (const std::string& text : texts) {
    command.push_back(folder / (std::to_string(command.size()) + ".json"));
    write_file(command.back(), text);
  }
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<bool> accepted;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);)
    accepted.push_back(line == "valid");
  return accepted;
}

}  // namespace gpufilter::test
