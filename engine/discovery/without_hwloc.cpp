// Part of engine/discovery/hwloc_machine.h: a build that finds and reads no machines.
#include "engine/discovery/hwloc_machine.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::discovery {

Machine this_machine() { throw InputError("this build finds no machines", need::Hwloc{}); }

Machine machine_of_xml(const std::string&, const std::string& file) {
  throw InputError(printable(file, 200) + ": this build reads no machines", need::Hwloc{});
}

}  // namespace hios::discovery
