#pragma once

#include <span>
#include <string>

#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// Profiles that were measured on another machine or by another build than the one that uses them.
namespace hios {

/// The machine and the build that use a profile. An empty text is not compared.
struct Surrounding {
  std::string processor = {};  ///< the operating system's name of it
  std::string host = {};       ///< named where the processors differ; alone it says nothing
  std::string library = {};    ///< of the backend: "oneDNN 2.6.3"
  std::string mpi = {};        ///< "Open MPI 4.1.4"
  std::string version = {};    ///< of the programs
  std::string commit = {};     ///< of the programs
  std::string build = {};      ///< of the programs: "g++ 12.2.0, Release"
  /// Tensors are copied from rank to rank, in a run whose ranks may share memory.
  bool copies = false;
};

/// Returns the differences between a configuration's machine and this one: "processor Intel i3 on
/// host n1 (here AMD EPYC on n2), commit 1a2b (here 3c4d)". Empty: there are none that are known. A
/// GPU's processor and libraries are not compared: its identity is (Configuration::identity).
std::string differences(const Configuration& configuration, const Surrounding& here);

/// Returns that of the configurations for a platform's devices, each once: "p.json: measured with
/// processor …". `here`: by device, or one for all.
std::string measured_elsewhere(const Profile& profile, const Platform& platform,
                               std::span<const Surrounding> here);

}  // namespace hios
