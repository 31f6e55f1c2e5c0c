#pragma once

#include <string>
#include <string_view>

/// The file of a flight record. It is written when a process fails, perhaps in a folder that others
/// may write to, and nobody is there to look.
namespace hios::flight {

/// Makes the folder, and folders above it, where they are missing, for their user alone (mode 700).
/// Throws InputError where it cannot be made, is a link, belongs to another user, or others may
/// write there.
void make_own_folder(const std::string& folder);

/// Writes `folder`/`name`, whole or not at all; an earlier record of the user is replaced. Follows
/// no link: one at the file's name is replaced itself. So nobody who may write to the folder can
/// have another file replaced. Throws InputError where no file can be written there, or where
/// another user's is there already.
void write_record_file(const std::string& folder, const std::string& name, std::string_view text);

}  // namespace hios::flight
