#pragma once

#include "hios/profile/profile.h"

/// One profile that several programs grow at the same time.
namespace hios {

/// Brings into `now`, what a file holds today, all that a program has measured since it read it:
/// what `measured` has and `before`, the file as it was then, has not, or has otherwise. What
/// others have added meanwhile stays; of what both have measured `measured` counts. Times that
/// measuring took, and sweeps, add up.
/// Throws InputError where others have measured on another processor or with another transport
/// meanwhile: one configuration is one machine's.
void bring_in(const Profile& before, const Profile& measured, Profile& now);

}  // namespace hios
