#include "mpi/session/exit_status.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <system_error>

#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/serial.h"

namespace hios::mpi {

void print_error(const std::string& text) {
  std::cout.flush();
  std::fflush(nullptr);
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  // A quoted text may hold anything, also terminal sequences.
  constexpr std::size_t kMaxCharacters = 4000;
  line = "error: " + printable(line, kMaxCharacters) + '\n';
  // A single write keeps the lines of several ranks apart.
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // stderr is closed: nobody can read the message
    done += static_cast<std::size_t>(written);
  }
}

Failure current_failure(const ErrorText& text_of) {
  try {
    throw;
  } catch (const Error& error) {
    return {static_cast<int>(error.code()), text_of(error)};
  } catch (const std::bad_alloc&) {
    return {static_cast<int>(ExitCode::kRunFailed), "out of memory"};
  } catch (const std::system_error& error) {
    return {static_cast<int>(ExitCode::kRunFailed),
            std::string("the system refused a thread or a file: ") + error.what() +
                "; its limits (ulimit -u, -v, -n) may be too low"};
  } catch (const std::exception& error) {
    return {static_cast<int>(ExitCode::kRunFailed), error.what()};
  } catch (...) {
    return {static_cast<int>(ExitCode::kRunFailed), "an exception without a message"};
  }
}

std::string with_rank(Rank rank, const std::string& host, const std::string& text) {
  const std::string who = "rank " + std::to_string(rank.index()) + " on " + host;
  const bool named = text.starts_with(who + ",") || text.starts_with(who + ":");
  return named ? text : who + ": " + text;
}

int run_one_rank(const std::function<int(Transport&)>& body, const ErrorText& text_of) {
  const std::unique_ptr<Transport> transport = make_serial_transport();
  try {
    return body(*transport);
  } catch (const InputError& error) {
    print_error(text_of(error));
    return static_cast<int>(error.code());
  } catch (...) {
    const Failure failure = current_failure(text_of);
    print_error(with_rank(transport->rank(), transport->host(), failure.text));
    flight::report_failure(flight::Ending::kError, failure.text);
    return failure.exit_status;
  }
}

}  // namespace hios::mpi
