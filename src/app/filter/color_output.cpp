#include "app/filter/color_output.hpp"

#include <map>
#include <string>

#include "app/cli/parse.hpp"
#include "base/log.hpp"

namespace gpufilter {

void add_color_output(Arguments& app) {
  static const std::map<std::string, log::Color> choices{{"auto", log::Color::automatic},
                                                         {"always", log::Color::always},
                                                         {"never", log::Color::never}};
  app.add_option_function(
         "--color-output", [](const std::string& given) { log::set_color(choices.at(given)); },
         "Colour the labels of errors and warnings. auto: on a terminal, unless NO_COLOR is set.")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("auto|always|never [auto]")
      ->trigger_on_parse();
}

}  // namespace gpufilter
