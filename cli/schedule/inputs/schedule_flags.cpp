#include "cli/schedule/inputs/schedule_flags.h"

#include <string>
#include <vector>

#include "cli/flags/model_flags.h"
#include "cli/process/version.h"
#include "cli/schedule/inputs/parameter_labels.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/schedule/period_table.h"
#include "cli/schedule/shared/server_inputs.h"

namespace hios::cli {
namespace {

namespace po = boost::program_options;

po::options_description schedule_flags() {
  po::options_description group("Schedule", 100, 45);
  group.add_options()(
      "algorithm", value("NAME[,NAME...]|all"),
      daily("the schedulers (--list-algorithms); without it hios, or best with --time-limit and "
            "for another objective than latency"));
  group.add_options()(
      "objective", value("latency|throughput|cold-start")->default_value("latency"),
      "minimize the time of one inference, the time from one to the next where many "
      "are in flight, or the time of the first one, while its parameters are loaded");
  group.add_options()(
      "compare",
      daily("all schedulers side by side, or those of --algorithm next to sequential and ios; "
            "--csv and --json write the table"));
  group.add_options()("markdown", "print the table in Markdown")(
      "latex", "print the table in LaTeX (tabular)")(
      "plot", value("PICTURE"),
      "draw the table as .pdf, .svg or .png: hios schedule has this flag, not hios-schedule");
  group.add_options()("option", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                      "an algorithm's option, repeatable (--option window=4)");
  group.add_options()(
      "time-limit", value("SECONDS")->default_value("10"),
      "seconds for the whole command, reading and lower bound included, where an algorithm can end "
      "early; each of several algorithms has the seconds that reading and bound leave. The best "
      "schedule found counts. Ctrl-C, SIGTERM or SIGHUP ends the search (within a second for some "
      "100,000 operators), keeps the "
      "best so far and exits 130, 143 or 129; a second Ctrl-C ends the program at once");
  group.add_options()("output", output_file("FILE"),
                      daily("write the schedule (one algorithm); {devices} in the name is the "
                            "number of --devices"));
  group.add_options()(
      "check", input_file("SCHEDULE"),
      daily("validate and simulate an existing schedule; with --compare it is a row "
            "of the table"));
  group.add_options()("export-graph", output_file("FILE"), "write the graph with its costs");
  group.add_options()("export-platform", output_file("FILE"),
                      "write the devices as a hios-platform file");
  group.add_options()("export-model", output_file("FILE"),
                      "write the --model, at its size, as a hios-model file");
  group.add_options()("timeline", output_file("FILE"),
                      daily("write the plan as a Chrome trace (Perfetto)"));
  group.add_options()("list-algorithms", daily("print the schedulers and their options"))(
      "list-models", "print the built-in networks")(
      "list-operators",
      "print the operators of --model; --json and --csv with signatures and layers");
  return group;
}

}  // namespace

Flags schedule_program_flags() {
  Flags flags(
      {.program = "hios-schedule",
       .purpose = "plan a network's operators over devices and streams",
       .usage = "--model NAME|FILE --profile FILE [--algorithm NAME] [FLAG...]",
       .examples = {
           {"hios-schedule --random n=60,seed=3 --devices 4 --algorithm hios-lp,heft --compare",
            "schedulers compared on a random network, which needs no profile"},
           {"hios-schedule --model squeezenet --profile profile.json --devices " +
                std::string(with_mpi() ? "2" : "1") + " --algorithm hios-lp --output schedule.json",
            "a schedule by the costs in profile.json (see hios-profile)"}}});
  flags.add(model_flags())
      .add(inputs_flags())
      .add(input_flags())
      .add(label_flags())
      .add(schedule_flags())
      .add(server_flags())
      .add(bound_flags())
      .add(common_flags())
      .add_values("model", model_names())
      .add_values("bounds", bound_names());
  return flags;
}

}  // namespace hios::cli
