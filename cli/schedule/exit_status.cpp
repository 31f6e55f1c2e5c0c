#include "cli/schedule/exit_status.h"

#include <exception>
#include <new>

#include "cli/flags/flags.h"
#include "cli/process/output.h"
#include "cli/remedies.h"
#include "hios/base/error.h"
#include "hios/base/log.h"

namespace hios::cli {

int exit_status_of(const std::function<int()>& program) {
  try {
    const int status = program();
    finish_output();
    return status;
  } catch (const Error& error) {
    log::error(error_line(error));
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    log::error(
        "out of memory: take a smaller graph, fewer devices or fewer islands of best, or give the "
        "program more memory");
  } catch (const std::exception& error) {
    log::error(error.what());
  }
  return static_cast<int>(ExitCode::kRunFailed);
}

}  // namespace hios::cli
