#include "common/report/guarded_main.h"

#include <cstring>
#include <string>

#include "common/report/failure.h"
#include "common/report/write_fully.h"

namespace lab {

const char* program_name(const char* argv0) {
  const char* slash = std::strrchr(argv0, '/');
  return slash ? slash + 1 : argv0;
}

int guarded_main(int argc, char** argv, const std::function<ExitCode(int, char**)>& body) {
  const std::string program = argc > 0 ? program_name(argv[0]) : "lab";
  try {
    return static_cast<int>(body(argc, argv));
  } catch (const Error& error) {
    write_fully(2, program + ": error: " + sentence_of(error) + "\n");
    return exit_code_of(error);
  } catch (const std::exception& failure) {
    write_fully(2, program + ": internal error: " + sentence_of(failure) + "\n");
  } catch (...) {
    write_fully(2, program + ": internal error: something that is not an exception was thrown\n");
  }
  return static_cast<int>(ExitCode::kInternal);
}

}  // namespace lab
