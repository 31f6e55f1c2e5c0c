#include "support/programs/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "hios/base/error.h"
#include "support/programs/temporary_folder.h"

extern char** environ;

namespace hios::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kRunVariable = "TEST_RUN_OF";
constexpr const char* kStateVariable = "XDG_STATE_HOME";

/// A file descriptor and its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw RunError(std::string("pipe: ") + std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// This process's environment with some variables added or replaced.
std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) result.push_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Starts the command in a process group of its own. Between fork and exec only calls that are safe
/// there: the tests have threads.
pid_t start(const std::vector<std::string>& command, const ProcessOptions& options, const Pipe& out,
            const Pipe& err) {
  const std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const pid_t child = fork();
  if (child < 0) throw RunError(std::string("fork: ") + std::strerror(errno));
  if (child > 0) {
    setpgid(child, child);  // both sides, whichever comes first
    return child;
  }
  setpgid(0, 0);
  // Who starts these tests may ignore some: shells SIGINT and SIGQUIT of background jobs, nohup
  // SIGHUP, other programs SIGPIPE.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out.write.number(), STDOUT_FILENO);
  dup2(err.write.number(), STDERR_FILENO);
  if (options.directory.empty() || chdir(options.directory.c_str()) == 0) {
    execvpe(arguments[0], arguments.data(), variables.data());
  }
  constexpr char kCannot[] = "cannot start the program\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kCannot, sizeof kCannot - 1);
  _exit(127);
}

/// Appends what is there; closes the descriptor at its end.
void drain(Descriptor& from, std::string& to) {
  std::array<char, 65536> block;
  const ssize_t got = read(from.number(), block.data(), block.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    from.close();
  } else {
    to.append(block.data(), static_cast<std::size_t>(got));
  }
}

/// Reads both outputs to their ends, or until `deadline`. False: time is up.
bool read_until(Clock::time_point deadline, Descriptor& out, Descriptor& err,
                ProcessResult& result) {
  while (out.is_open() || err.is_open()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    // poll() passes over negative descriptors.
    std::array<pollfd, 2> both = {pollfd{out.number(), POLLIN, 0}, pollfd{err.number(), POLLIN, 0}};
    if (poll(both.data(), both.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (both[0].revents != 0) drain(out, result.out);
    if (both[1].revents != 0) drain(err, result.err);
  }
  return true;
}

/// The children of a process that have not ended (a zombie has).
std::size_t living_children(pid_t parent) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    const std::size_t name_end = text.rfind(')');  // PID (NAME) STATE PARENT …
    if (name_end == std::string::npos) continue;
    std::istringstream rest(text.substr(name_end + 1));
    char state = 0;
    pid_t of = 0;
    if (rest >> state >> of && of == parent && state != 'Z') ++count;
  }
  return count;
}

/// A name for one run, for the environment of all that comes of it.
std::string new_run() {
  static std::atomic<int> runs = 0;
  return std::to_string(getpid()) + "-" + std::to_string(++runs);
}

/// Returns what a run has left. Launchers put ranks into process groups of their own, and a killed
/// launcher leaves its ranks to nobody: their environment alone tells where they come from.
std::vector<pid_t> all_of(const std::string& run) {
  const std::string sign = '\0' + (kRunVariable + ("=" + run)) + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    std::ostringstream environment;
    environment << '\0' << file.rdbuf();
    if (environment.str().find(sign) != std::string::npos)
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

void kill_all_of(const std::string& run) {
  for (const pid_t process : all_of(run)) kill(process, SIGKILL);
}

/// Waits until nothing of a run lives, and returns how many processes do after a minute.
std::size_t left_of(const std::string& run) {
  for (int tenth = 0; tenth < 600 && !all_of(run).empty(); ++tenth)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return all_of(run).size();
}

/// Returns true if the caller sets the variable.
bool sets(const ProcessOptions& options, const std::string& variable) {
  return std::ranges::any_of(options.environment,
                             [&](const auto& each) { return each.first == variable; });
}

/// The folder of the flight records of programs that fail: not the user's.
const std::filesystem::path& state_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& given) {
  const std::string run = new_run();
  ProcessOptions options = given;
  options.environment.emplace_back(kRunVariable, run);
  if (!sets(options, kStateVariable))
    options.environment.emplace_back(kStateVariable, state_folder());
  Pipe out = make_pipe(), err = make_pipe();
  std::vector<std::string> whole = options.before;
  whole.insert(whole.end(), command.begin(), command.end());
  const pid_t child = start(whole, options, out, err);
  out.write.close();
  err.write.close();

  ProcessResult result;
  const auto begin = Clock::now();
  const auto deadline = begin + milliseconds(options.limit_s);
  if (!read_until(deadline, out.read, err.read, result)) {
    result.timed_out = true;
    result.children_at_limit = living_children(child);
    // mpirun takes its ranks along if it is asked, and cannot if it is killed.
    kill(-child, SIGTERM);
    read_until(Clock::now() + std::chrono::seconds(3), out.read, err.read, result);
    kill(-child, SIGKILL);
    kill_all_of(run);
  }
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (options.all_end) result.left = left_of(run);
  if (result.left > 0) kill_all_of(run);
  result.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  result.max_resident_bytes = static_cast<std::size_t>(used.ru_maxrss) * 1024;
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result.exit_status == 127 && result.err.starts_with("cannot start the program")) {
    throw RunError("cannot start " + command.front());
  }
  return result;
}

#ifdef HIOS_MPIEXEC
namespace {

/// Adds the settings of hios_mpi_test in tests/CMakeLists.txt; what the caller wants comes before.
void add_mpi_settings(ProcessOptions& options) {
  std::istringstream settings(HIOS_MPI_ENVIRONMENT);
  for (std::string setting; settings >> setting;) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (!sets(options, name)) options.environment.emplace_back(name, setting.substr(equals + 1));
  }
}

}  // namespace

ProcessResult run_shell(const std::string& line, ProcessOptions options) {
  add_mpi_settings(options);
  return run_process({"sh", "-c", line}, options);
}

ProcessResult run_mpi(std::size_t ranks, const std::vector<std::string>& command,
                      ProcessOptions options) {
  const char* moved = std::getenv("HIOS_MPIEXEC");  // see program() in programs.cpp
  std::vector<std::string> whole = {moved ? moved : HIOS_MPIEXEC, "--bind-to", "none", "-np",
                                    std::to_string(ranks)};
  whole.insert(whole.end(), command.begin(), command.end());
  add_mpi_settings(options);
  return run_process(whole, options);
}
#endif

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) result.push_back(line);
  }
  return result;
}

}  // namespace hios::test
