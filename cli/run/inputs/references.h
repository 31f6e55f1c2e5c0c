#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "engine/job/run_job.h"
#include "hios/report/report.h"

/// Arrays that the user gives: outputs to compare with.
namespace hios::cli {

/// An output's expected values.
struct Reference {
  std::size_t output = 0;  ///< an index of Model::named_outputs()
  std::string file;
  std::vector<float> values = {};  ///< row-major
};

/// Reads each --reference [NAME:]FILE. Throws InputError: no name where there are several outputs,
/// a name that none has, an output twice, or another size.
std::vector<Reference> read_references(const Flags& flags, const Model& model,
                                       const ReadLimits& limits);

/// Compares a run's outputs with the references. REQUIRES: outputs by Model::named_outputs().
std::vector<ReportReference> compare_references(std::span<const Reference> references,
                                                const Model& model,
                                                std::span<const std::vector<float>> outputs,
                                                const job::Tolerance& tolerance);

/// Returns a line for people: "output 'prob' compared with ref.npy: largest error …".
std::string reference_text(const ReportReference& reference);

}  // namespace hios::cli
