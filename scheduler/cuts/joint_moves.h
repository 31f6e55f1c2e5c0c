#pragma once

#include "hios/schedule/schedule.h"
#include "scheduler/cuts/cut_network.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// A schedule of a network with some operators cut.
struct CutSchedule {
  Taken taken;
  CutNetwork cut;
  Schedule schedule = {};
  double latency_ms = 0;  ///< by simulate()
};

/// Changes cuts and devices together: cuts the operators of a run, or makes them whole again, on
/// devices of its choice, while all other operators keep theirs. Some cuts only pay on the devices
/// of their neighbours: an algorithm that schedules each network from scratch may miss them.
/// Operators keep the order in which they start, or are ordered by their longest paths; its
/// schedules have one operator a stage. Keeps a shorter schedule, or one that is as short with
/// fewer cuts; returns true if there was one. Ends when a pass over all
/// runs finds nothing, or with the deadline, without a time limit after networks_of_search().
/// REQUIRES: the schedule is valid.
bool move_together(const CuttableProblem& problem, const Deadline& deadline, CutSchedule& best);

}  // namespace hios::scheduler
