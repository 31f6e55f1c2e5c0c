// Preloaded into the ranks of a job, this stops the rank $STOP_RANK (SIGSTOP) before its
// $STOP_CALL-th call of MPI that may wait for other ranks, and says so.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

/// Returns a variable's number; −1: it is not set.
int number(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : -1;
}

void before(const char* call) {
  static int calls = 0;
  ++calls;
  const int rank = number(std::getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK");
  if (rank < 0 || rank != number("STOP_RANK") || calls != number("STOP_CALL")) return;
  char line[100];
  std::snprintf(line, sizeof line, "rank %d is stopped before call %d, %s\n", rank, calls, call);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, std::strlen(line));
  raise(SIGSTOP);
}

}  // namespace

// The library calls itself by names with a P, so that these replace the program's calls only.
extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  before("MPI_Init_thread");
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Comm_dup(MPI_Comm parent, MPI_Comm* copy) {
  before("MPI_Comm_dup");
  return PMPI_Comm_dup(parent, copy);
}

int MPI_Comm_split_type(MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm* part) {
  before("MPI_Comm_split_type");
  return PMPI_Comm_split_type(parent, type, key, info, part);
}

int MPI_Comm_free(MPI_Comm* communicator) {
  before("MPI_Comm_free");
  return PMPI_Comm_free(communicator);
}

int MPI_Barrier(MPI_Comm communicator) {
  before("MPI_Barrier");
  return PMPI_Barrier(communicator);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  before("MPI_Bcast");
  return PMPI_Bcast(data, count, type, root, communicator);
}

int MPI_Allgather(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                  int received_count, MPI_Datatype received_type, MPI_Comm communicator) {
  before("MPI_Allgather");
  return PMPI_Allgather(sent, sent_count, sent_type, received, received_count, received_type,
                        communicator);
}

int MPI_Allreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
  before("MPI_Allreduce");
  return PMPI_Allreduce(sent, received, count, type, operation, communicator);
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  before("MPI_Ibarrier");
  return PMPI_Ibarrier(communicator, request);
}

int MPI_Finalize() {
  before("MPI_Finalize");
  return PMPI_Finalize();
}

}  // extern "C"
