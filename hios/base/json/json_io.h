#pragma once

#include <filesystem>
#include <functional>

#include "hios/base/files/file_io.h"
#include "hios/base/json/json.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"
#include "hios/base/json/json_view.h"

/// JSON files: parse_json and to_text with the functions of hios/base/files/file_io.h.
namespace hios {

/// Reads and parses a file. Throws InputError as read_text() and parse_json() do.
Json read_json(const std::filesystem::path& file, const ReadLimits& limits = {});

/// Writes to_text(json) as write_text() does.
void write_json(const std::filesystem::path& file, const Json& json, Existing existing);

/// Grows a file that other programs may grow at the same moment. `change` gets the file's content
/// (null: there is none) and returns the new content; no other update comes between. It may be
/// called again. Waits for other updates, and throws RunError where one takes longer than half a
/// minute. Warns and continues without a lock where the file system has none.
void update_json(const std::filesystem::path& file, const ReadLimits& limits,
                 const std::function<Json(const Json* now)>& change);

}  // namespace hios
