#pragma once

#include "scheduler/cold/shared/keeping_judge.h"

/// Keepings by rules, which do not judge, and baselines of the search.
namespace hios::scheduler::cold {

/// Keeps the next sets of the model on the device, in the order of use and from position `from`,
/// until they have so many bytes, at least one set. Sets that some device keeps, and those without
/// room, are left out. Returns the bytes.
Bytes keep_next(Keeping& keeping, const KeepingJudge& judge, std::size_t model, DeviceId device,
                Bytes bytes, std::size_t from = 0);

/// Returns the keeping of whole models, in the order of their shares: each that has room with all
/// of its parameters, over as few devices as they need, the one with the most room first.
Keeping whole_models(const KeepingJudge& judge);

/// Returns the keeping in which each model has its share of the memory, with the parameters that it
/// uses first, on the devices where its plan uses them, or else where there is most room.
Keeping first_used(const KeepingJudge& judge);

}  // namespace hios::scheduler::cold
