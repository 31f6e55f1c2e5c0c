#pragma once

#include "hios/profile/profile.h"

/// A profile that several programs extend at the same time.
namespace hios {

/// Merges a program's measurements into `now`, the current content of the file (a three-way merge).
/// `before` is the content that the program read, `measured` its result: entries in which the two
/// differ are written to `now`. Entries that others have added stay; of entries that both have
/// measured, `measured` wins. Seconds and sweeps add up. Throws InputError where others have
/// measured on another processor or with another transport meanwhile: one configuration belongs to
/// one machine.
void merge_changes(const Profile& before, const Profile& measured, Profile& now);

}  // namespace hios
