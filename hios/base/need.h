#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

/// The means that would help against an error, as facts. Libraries know no flags and no commands;
/// a program words each need with its own (cli/remedies.cpp, one overload a struct). A struct lists
/// its members once, so that ranks can exchange it (mpi/exchange.h).
namespace hios::need {

/// A larger limit of bytes for files that are read.
struct LargerInput {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const LargerInput&) const = default;
};

/// Permission to replace a file that exists.
struct Replacement {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const Replacement&) const = default;
};

/// Extents of an ONNX file's inputs that the file leaves open.
struct OpenDimensions {
  std::vector<std::string> names;
  static auto fields(auto& self) { return std::tie(self.names); }
  bool operator==(const OpenDimensions&) const = default;
};

/// A build that reads ONNX files.
struct OnnxReader {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const OnnxReader&) const = default;
};

/// A build that finds and reads machines.
struct Hwloc {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const Hwloc&) const = default;
};

/// A build that writes ONNX files.
struct OnnxWriter {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const OnnxWriter&) const = default;
};

/// The model with its sibling convolutions merged as the schedule was made with.
struct SameMerge {
  std::string merge;  ///< "none", "siblings", or the schedule's file, which lists sets
  static auto fields(auto& self) { return std::tie(self.merge); }
  bool operator==(const SameMerge&) const = default;
};

/// A schedule of the graph that is there.
struct ScheduleOfGraph {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const ScheduleOfGraph&) const = default;
};

/// All findings about a schedule, of which the error shows the first.
struct AllFindings {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const AllFindings&) const = default;
};

/// Measured times of one of a platform's devices, in a profile that lacks them.
struct Measurement {
  struct Device {
    std::string kind;  ///< hios::Device::kind
    int threads = 0;
    std::string math;  ///< the name of its Precision
    static auto fields(auto& self) { return std::tie(self.kind, self.threads, self.math); }
    bool operator==(const Device&) const = default;
  };
  std::string model;            ///< the graph's name
  std::string profile;          ///< the file
  std::vector<Device> devices;  ///< the platform's, in order
  std::size_t device = 0;       ///< the one without times, an index of `devices`
  bool alike = true;            ///< Platform::alike()
  static auto fields(auto& self) {
    return std::tie(self.model, self.profile, self.devices, self.device, self.alike);
  }
  bool operator==(const Measurement&) const = default;
};

/// A platform that says which GPU one of its devices is.
struct DeviceIdentity {
  std::string device;  ///< its name
  static auto fields(auto& self) { return std::tie(self.device); }
  bool operator==(const DeviceIdentity&) const = default;
};

/// A backend that can what this one cannot.
struct OtherBackend {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const OtherBackend&) const = default;
};

/// An engine for all that a schedule's weights ask for.
struct ColdStartEngine {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const ColdStartEngine&) const = default;
};

/// Packed weights of this run's model, backend and schedule.
struct PackedWeights {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const PackedWeights&) const = default;
};

/// A build with a backend that this one lacks.
struct BackendInBuild {
  std::string backend;
  std::string instead;  ///< a backend that serves in its place
  static auto fields(auto& self) { return std::tie(self.backend, self.instead); }
  bool operator==(const BackendInBuild&) const = default;
};

/// A build for the architecture of the GPU that is there.
struct GpuArchitectureInBuild {
  std::string instead;  ///< a backend that serves in its place
  static auto fields(auto& self) { return std::tie(self.instead); }
  bool operator==(const GpuArchitectureInBuild&) const = default;
};

/// A GPU that can be used.
struct Gpu {
  std::string instead;  ///< a backend that computes without one
  static auto fields(auto& self) { return std::tie(self.instead); }
  bool operator==(const Gpu&) const = default;
};

/// The number of GPUs that each node has.
struct DevicesPerNode {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const DevicesPerNode&) const = default;
};

/// A run without some algorithms of convolutions, of which the last one broke the GPU's context.
struct WithoutAlgorithms {
  std::vector<std::string> names;  ///< also those that this run has left out
  static auto fields(auto& self) { return std::tie(self.names); }
  bool operator==(const WithoutAlgorithms&) const = default;
};

/// The GPU that the schedule was made for.
struct SameGpu {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const SameGpu&) const = default;
};

/// GPUs that are alike, or a schedule whose devices say which GPU they are.
struct IdentifiedDevices {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const IdentifiedDevices&) const = default;
};

/// Hosts with the same processors, kernels and libraries.
struct AlikeHosts {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const AlikeHosts&) const = default;
};

/// More memory on a device, or a schedule that holds less there.
struct DeviceMemory {
  bool chosen_algorithms = false;  ///< operators' algorithms hold scratch memory, and others less
  static auto fields(auto& self) { return std::tie(self.chosen_algorithms); }
  bool operator==(const DeviceMemory&) const = default;
};

/// More memory on a host, or a job that holds less there.
struct HostMemory {
  bool many_inferences = false;  ///< several inferences are in flight
  bool several_ranks = false;    ///< ranks share the memory that is short
  bool own_limit = false;        ///< the limit is a process's own (of its shell)
  static auto fields(auto& self) {
    return std::tie(self.many_inferences, self.several_ranks, self.own_limit);
  }
  bool operator==(const HostMemory&) const = default;
};

/// Backends that compute on the kinds of devices that the schedule was made for.
struct DeviceKind {
  std::string kind;                   ///< the kind of the rank's device
  std::vector<std::string> backends;  ///< suitable ones, one a device or one for all; empty: none
  static auto fields(auto& self) { return std::tie(self.kind, self.backends); }
  bool operator==(const DeviceKind&) const = default;
};

/// A backend with the arithmetic that the schedule was made for.
struct ScheduledPrecision {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const ScheduledPrecision&) const = default;
};

/// A backend with the arithmetic that the user chose.
struct ChosenPrecision {
  std::vector<std::string> maths;     ///< names of the precisions that this backend has
  std::vector<std::string> backends;  ///< backends of this build with the chosen arithmetic
  static auto fields(auto& self) { return std::tie(self.maths, self.backends); }
  bool operator==(const ChosenPrecision&) const = default;
};

/// One backend per rank, or one for all ranks.
struct BackendPerRank {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const BackendPerRank&) const = default;
};

/// A job with this number of ranks.
struct Ranks {
  std::size_t ranks = 1;
  static auto fields(auto& self) { return std::tie(self.ranks); }
  bool operator==(const Ranks&) const = default;
};

/// Enough cores for the ranks of a host; the job does not start with fewer.
struct Cores {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const Cores&) const = default;
};

/// Enough cores for the ranks of a host; the job runs with fewer, too.
struct UnsharedCores {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const UnsharedCores&) const = default;
};

/// More time of cores from the control groups of the container or the job.
struct CoreQuota {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const CoreQuota&) const = default;
};

/// A frequency governor that does not slow cores down.
struct PerformanceGovernor {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const PerformanceGovernor&) const = default;
};

/// Messages between the ranks of a host that are copied once.
struct SingleCopy {
  std::string library;   ///< MPI's name and version: "Open MPI 4.1.4"
  int ptrace_scope = 0;  ///< the kernel's setting, where it forbids them; 0: it does not
  static auto fields(auto& self) { return std::tie(self.library, self.ptrace_scope); }
  bool operator==(const SingleCopy&) const = default;
};

/// An MPI that sends tensors from the memory of GPUs.
struct CudaAwareMpi {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const CudaAwareMpi&) const = default;
};

/// Another route for tensors between two ranks than the one that was chosen.
struct OtherRoute {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const OtherRoute&) const = default;
};

/// The launcher of the MPI that this build uses.
struct MatchingLauncher {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const MatchingLauncher&) const = default;
};

/// A build with MPI, or a job of one rank.
struct MpiInBuild {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const MpiInBuild&) const = default;
};

/// The one of several operators that failed, known where the device runs one at a time.
struct FailedOperator {
  static auto fields(auto&) { return std::tie(); }
  bool operator==(const FailedOperator&) const = default;
};

}  // namespace hios::need

namespace hios {

using AnyNeed =
    std::variant<std::monostate, need::LargerInput, need::Replacement, need::OpenDimensions,
                 need::OnnxReader, need::OnnxWriter, need::SameMerge, need::AllFindings,
                 need::Measurement, need::DeviceIdentity, need::OtherBackend, need::ColdStartEngine,
                 need::PackedWeights, need::BackendInBuild, need::GpuArchitectureInBuild, need::Gpu,
                 need::DevicesPerNode, need::SameGpu, need::IdentifiedDevices, need::AlikeHosts,
                 need::DeviceMemory, need::HostMemory, need::DeviceKind, need::ScheduledPrecision,
                 need::ChosenPrecision, need::BackendPerRank, need::Ranks, need::Cores,
                 need::UnsharedCores, need::CoreQuota, need::PerformanceGovernor, need::SingleCopy,
                 need::CudaAwareMpi, need::OtherRoute, need::MatchingLauncher, need::MpiInBuild,
                 need::FailedOperator, need::ScheduleOfGraph, need::Hwloc, need::WithoutAlgorithms>;

/// One of the needs, or none (std::monostate): the error's text then says all. A type of its own,
/// so that hios/base/error.h need not know the list.
struct Need : AnyNeed {
  using AnyNeed::AnyNeed;
};

}  // namespace hios
