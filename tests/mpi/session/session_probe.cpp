// A program that ends as its first argument says; session_test.cpp starts it, alone and on ranks.
// Its second argument is the time-out of the session.
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "hios/base/error.h"
#include "mpi/session/agreement.h"
#include "mpi/session/session.h"

namespace {

using hios::InputError;
using hios::Rank;
using hios::RunError;
using hios::mpi::Transport;

bool is_second(const Transport& transport) { return transport.rank() == Rank(1); }

/// Waits for a message that rank 1 never sends.
void wait_for_rank_1(Transport& transport) {
  std::byte byte{};
  const std::vector<hios::mpi::Message> receive = {{Rank(1), 5, &byte, 1}};
  const auto channel = transport.open_channel({}, receive);
  channel->start_receives();
  channel->await_receive(0);
}

const std::map<std::string, std::function<int(Transport&)>> kEndings = {
    {"well",
     [](Transport& transport) {
       // In one write, so that no other rank's output comes between.
       std::cout << "size " + std::to_string(transport.size()) + ", path " + transport.path() +
                        "\n";
       return 0;
     }},
    {"status-1", [](Transport&) { return 1; }},
    {"agreed-input",
     [](Transport& transport) {
       hios::mpi::agree_on_input(transport, is_second(transport) ? "no such file" : "");
       return 0;
     }},
    {"same-input", [](Transport&) -> int { throw InputError("profile.json: $.a: no number"); }},
    {"different-input",
     [](Transport& transport) -> int {
       throw InputError("message " + std::to_string(transport.rank().index()));
     }},
    {"input-of-one",
     [](Transport& transport) {
       if (is_second(transport)) throw InputError("only here");
       transport.barrier();
       return 0;
     }},
    {"input-while-others-end",
     [](Transport& transport) {
       if (is_second(transport)) throw InputError("only here");
       return 0;
     }},
    {"run-error",
     [](Transport& transport) {
       if (is_second(transport)) throw RunError("stage 4 broke");
       transport.barrier();
       return 0;
     }},
    {"run-error-while-others-receive",
     [](Transport& transport) {
       if (is_second(transport)) throw RunError("stage 4 broke");
       wait_for_rank_1(transport);
       return 0;
     }},
    {"foreign-exception",
     [](Transport& transport) {
       if (is_second(transport)) throw std::out_of_range("a\nb");
       transport.barrier();
       return 0;
     }},
    {"no-exception-class",
     [](Transport& transport) {
       if (is_second(transport)) throw 42;
       transport.barrier();
       return 0;
     }},
    {"abort",
     [](Transport& transport) {
       if (is_second(transport)) transport.abort(7);
       transport.barrier();
       return 0;
     }},
    {"killed",
     [](Transport& transport) {
       if (is_second(transport)) std::raise(SIGKILL);
       transport.barrier();
       return 0;
     }},
    {"lone-run-error", [](Transport&) -> int { throw RunError("stage 4 broke"); }},
    {"named-run-error",
     [](Transport& transport) -> int {
       throw RunError("rank 0 on " + transport.host() + ", running stage 4: it broke");
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto text_of = [](const hios::Error& error) { return std::string(error.what()); };
  hios::mpi::SessionTimeout timeout{.name = "--limit"};
  if (argc > 2) timeout.seconds = std::stod(argv[2]);
  return hios::mpi::run_session(argc, argv, kEndings.at(argc > 1 ? argv[1] : "well"), text_of,
                                timeout);
}
