/* The plug-in libhooke_petsc: ranks by MPI, with the partition, the exchange of ghosts and the
 * solvers of PETSc; see base/ranks.h. */
#include "petsc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

/* The plug-in has no symbol of Hooke, hence its own way to fill an error. */
static HkStatus fail(HkError *error, HkStatus status, const char *format, ...) {
  va_list values;
  if (!error) return status;
  memset(error, 0, sizeof *error);
  error->status = status;
  va_start(values, format);
  vsnprintf(error->text, sizeof error->text, format, values);
  va_end(values);
  return status;
}

/* PETSc's handler of errors: keeps the text of the innermost function, and prints nothing. */
static PetscErrorCode keep_text(MPI_Comm comm, int line, const char *function, const char *file,
                                PetscErrorCode code, PetscErrorType type, const char *text,
                                void *user) {
  PetscRanks *ranks = user;
  (void)comm;
  (void)line;
  (void)file;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(ranks->why, sizeof ranks->why, "%s: %s", function, text ? text : "");
  return code;
}

HkStatus petsc_status(const HkRanks *ranks, PetscErrorCode code, HkError *error) {
  const PetscRanks *r = (const PetscRanks *)ranks;
  const char *general = NULL;
  PetscErrorMessage(code, &general, NULL);
  return fail(error, code == PETSC_ERR_MEM ? HK_ERROR_MEMORY : HK_ERROR_INVALID, "PETSc: %s%s%s",
              general ? general : "error", r->why[0] ? "; " : "", r->why);
}

/* ---- Opening and closing ---- */

static HkStatus begin_mpi(PetscRanks *r, const void *communicator, HkError *error) {
  int initialized = 0, level = 0;
  if (mpi_has_ended())
    return fail(error, HK_ERROR_UNSUPPORTED,
                "MPI has ended in this process and cannot begin again; open all ranks before that");
  MPI_Initialized(&initialized);
  if (!initialized && communicator)
    return fail(error, HK_ERROR_INVALID, "call MPI_Init before hk_ranks_open with a communicator");
  if (!initialized) {
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
      return fail(error, HK_ERROR_UNSUPPORTED, "MPI cannot be initialized");
    r->ends_mpi = true;
  }
  MPI_Comm from = MPI_COMM_WORLD;
  if (communicator) memcpy(&from, communicator, sizeof from);
  MPI_Comm_dup(from, &r->comm);
  MPI_Comm_rank(r->comm, &r->base.rank);
  MPI_Comm_size(r->comm, &r->base.count);
  return HK_OK;
}

/* Initializes PETSc with the caller's options behind its own, or adds them where it is initialized
 * already: that happens once in a process, and cannot happen again after its end. Where a caller's
 * communicator may lack processes, which would be waited for, PETSc gets a copy of it as its world,
 * for the rest of the process. */
static PetscErrorCode begin_with(PetscRanks *r, int argc, char **argv) {
  PetscBool begun = PETSC_FALSE;
  PetscInitialized(&begun);
  if (begun) return PetscOptionsInsert(NULL, &argc, &argv, NULL);
  if (!r->ends_mpi) MPI_Comm_dup(r->comm, &PETSC_COMM_WORLD);
  PetscErrorCode code = PetscInitialize(&argc, &argv, NULL, NULL);
  if (!code) r->ends_petsc = r->ends_mpi;
  return code;
}

static HkStatus begin_petsc(PetscRanks *r, int count, char **arguments, HkError *error) {
  HkRanks *ranks = &r->base;
  char program[] = "hooke", quiet[] = "-no_signal_handler";
  char **words = malloc(((size_t)count + 3) * sizeof *words);
  if (!words) return fail(error, HK_ERROR_MEMORY, "out of memory");
  words[0] = program;
  words[1] = quiet;
  if (count > 0) memcpy(words + 2, arguments, (size_t)count * sizeof *words);
  words[count + 2] = NULL;
  PetscErrorCode code = begin_with(r, count + 2, words);
  free(words);
  if (code) return petsc_status(ranks, code, error);
  TRY_PETSC(PetscPushErrorHandler(keep_text, r));
  return HK_OK;
}

static void close_ranks(HkRanks **ranks) {
  PetscRanks *r = (PetscRanks *)*ranks;
  PetscPopErrorHandler();
  if (mpi_has_ended()) {
    free(r);
    *ranks = NULL;
    return;
  }
  MPI_Comm_free(&r->comm);
  if (r->ends_petsc) PetscFinalize();
  if (r->ends_mpi) MPI_Finalize();
  free(r);
  *ranks = NULL;
}

static HkStatus open_ranks(const void *communicator, int count, char **arguments, HkRanks **ranks,
                           HkError *error) {
  PetscRanks *r = calloc(1, sizeof *r);
  *ranks = NULL;
  if (!r) return fail(error, HK_ERROR_MEMORY, "out of memory");
  r->base.type = &hk_ranks_plugin;
  HkStatus status = begin_mpi(r, communicator, error);
  if (status >= 0) status = begin_petsc(r, count, arguments, error);
  if (status < 0) {
    free(r);
    return status;
  }
  *ranks = &r->base;
  return HK_OK;
}

static void abort_ranks(HkRanks *ranks, int code) {
  MPI_Abort(comm_of(ranks), code);
}

const HkRanksType hk_ranks_plugin = {
    .version = HK_RANKS_VERSION,
    .name = "petsc",
    .open = open_ranks,
    .close = close_ranks,
    .abort = abort_ranks,
    .gather = petsc_gather,
    .broadcast = petsc_broadcast,
    .counts = petsc_counts,
    .exchange = petsc_exchange,
    .partition = petsc_partition,
    .halo_create = petsc_halo_create,
    .halo_destroy = petsc_halo_destroy,
    .halo_begin = petsc_halo_begin,
    .halo_end = petsc_halo_end,
    .halo_bytes = petsc_halo_bytes,
    .file_open = petsc_file_open,
    .file_resize = petsc_file_resize,
    .file_write = petsc_file_write,
    .file_read = petsc_file_read,
    .file_close = petsc_file_close,
    .solver_create = petsc_solver_create,
    .solver_destroy = petsc_solver_destroy,
    .solver_set = petsc_solver_set,
    .solver_prepare = petsc_solver_prepare,
    .solver_apply = petsc_solver_apply,
    .solver_solve = petsc_solver_solve,
};
