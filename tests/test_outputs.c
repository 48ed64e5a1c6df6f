/* What every output of the registry must do: frames, resuming, errors, no allocation. */
#include "frames_by_hand.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *output_name(int index) {
  const HkSchema *schema = hk_schema_at(HK_OUTPUT, index);
  return schema ? schema->name : NULL;
}

/* A new folder; test_folder's own text lasts until its next call only. */
typedef struct Folder {
  char path[300];
} Folder;

static Folder new_folder(void) {
  Folder folder;
  snprintf(folder.path, sizeof folder.path, "%s", test_folder());
  return folder;
}

static bool same_folders(const char *a, const char *b) {
  char command[700];
  snprintf(command, sizeof command, "diff -r -x checkpoint.previous '%s' '%s'", a, b);
  return system(command) == 0;
}

static int count_files(const char *folder, const char *pattern) {
  char command[700];
  int count = -1;
  snprintf(command, sizeof command, "find '%s' -name '%s' | wc -l", folder, pattern);
  FILE *pipe = popen(command, "r");
  if (!pipe || fscanf(pipe, "%d", &count) != 1) test_fail(__FILE__, __LINE__, "%s", command);
  if (pipe) pclose(pipe);
  return count;
}

static void append_garbage(const char *folder, const char *name) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "ab");
  if (!file) return;
  fputs("half a row that was being writ", file);
  fclose(file);
}

/* To every file that is appended to: all but the mesh that is written once. */
static void append_garbage_to_all(const char *folder) {
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    if (strchr(entry->d_name, '.') > entry->d_name && strcmp(entry->d_name, "mesh.obj") != 0)
      append_garbage(folder, entry->d_name);
  if (entries) closedir(entries);
}

/* Writes 2 frames, then what a killed run may leave, then goes on from there to 4 frames. */
static HkStatus run_in_two(const char *name, const char *folder, Hand *hand, int more,
                           HkError *error) {
  HandOutput h;
  HK_TRY(hand_choose(&h, name, folder, error));
  HK_TRY(h.o.type->open(&h.o, &hand->model, error));
  HK_TRY(hand_write(&h, hand, 0, error));
  HK_TRY(hand_write(&h, hand, 1, error));
  int64_t offset = h.o.offset, written = h.o.written;
  for (int k = 0; k < more; k++) { /* other values than the frames that will stand there */
    HkFrame frame = hand_frame(hand, 50 + k);
    frame.index = 2 + k;
    HK_TRY(h.o.type->write(&h.o, &frame, error));
  }
  HK_TRY(hand_close(&h, error));
  append_garbage_to_all(folder);

  HK_TRY(hand_choose(&h, name, folder, error));
  h.o.offset = offset;
  h.o.written = written;
  HK_TRY(h.o.type->open(&h.o, &hand->model, error));
  HK_TRY(hand_write(&h, hand, 2, error));
  HK_TRY(hand_write(&h, hand, 3, error));
  return hand_close(&h, error);
}

TEST(every_output_resumes_with_the_same_bytes) {
  Hand *models[] = {hand_grid(4, 3), hand_tet(), hand_zoo()};
  for (int m = 0; m < 3; m++)
    for (int q = 0; output_name(q); q++)
      for (int more = 0; more < 3; more++) {
        Folder whole = new_folder(), parts = new_folder();
        MUST(hand_run(output_name(q), whole.path, models[m], 4, error));
        MUST(run_in_two(output_name(q), parts.path, models[m], more, error));
        if (!same_folders(whole.path, parts.path))
          test_fail(__FILE__, __LINE__, "%s, model %d, %d frames behind the checkpoint",
                    output_name(q), m, more);
        CHECK(count_files(whole.path, "*.tmp") == 0);
        CHECK(count_files(whole.path, "?*.*") > 0);
      }
  for (int m = 0; m < 3; m++) hand_destroy(models[m]);
}

/* What a run keeps in its checkpoint, in memory that outlives the child; the slot that is not in
 * use is filled, then taken, so that no death comes between. */
typedef struct Checkpoint {
  int64_t offset[2], written[2];
  atomic_int slot;
} Checkpoint;

static void checkpoint_set(Checkpoint *c, int64_t offset, int64_t written) {
  int other = !c->slot;
  c->offset[other] = offset;
  c->written[other] = written;
  c->slot = other;
}

enum { KILL_FRAMES = 40 };

/* Goes on from the checkpoint to the last frame, keeping it up to date. */
static HkStatus run_on(const char *name, const char *folder, Hand *hand, Checkpoint *c,
                       HkError *error) {
  HandOutput h;
  HK_TRY(hand_choose(&h, name, folder, error));
  h.o.offset = c->offset[c->slot];
  h.o.written = c->written[c->slot];
  HK_TRY(h.o.type->open(&h.o, &hand->model, error));
  while (h.o.written < KILL_FRAMES) {
    HK_TRY(hand_write(&h, hand, h.o.written, error));
    checkpoint_set(c, h.o.offset, h.o.written);
  }
  return hand_close(&h, error);
}

/* Starts the run in a child and kills it after so many microseconds. */
static void run_and_kill(const char *name, const char *folder, Hand *hand, Checkpoint *shared,
                         long microseconds) {
  pid_t child = fork();
  if (child == 0) {
    run_on(name, folder, hand, shared, NULL);
    _exit(0);
  }
  CHECK(child > 0);
  nanosleep(&(struct timespec){0, 1000 * microseconds}, NULL);
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
}

TEST(every_output_resumes_after_being_killed) {
  Hand *hand = hand_grid(25, 20);
  FILE *file = tmpfile();
  CHECK(file && ftruncate(fileno(file), sizeof(Checkpoint)) == 0);
  Checkpoint *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  if (shared == MAP_FAILED) SKIP("there is no shared memory");
  for (int q = 0; output_name(q); q++) {
    Folder whole = new_folder();
    checkpoint_set(shared, 0, 0);
    MUST(run_on(output_name(q), whole.path, hand, shared, error));
    for (int trial = 0; trial < 5; trial++) {
      Folder parts = new_folder();
      checkpoint_set(shared, 0, 0);
      for (int death = 0; death < 3; death++)
        run_and_kill(output_name(q), parts.path, hand, shared,
                     200 + 700 * ((trial + 2 * death) % 7));
      MUST(run_on(output_name(q), parts.path, hand, shared, error));
      if (!same_folders(whole.path, parts.path))
        test_fail(__FILE__, __LINE__, "%s", output_name(q));
    }
  }
  munmap(shared, sizeof *shared);
  fclose(file);
  hand_destroy(hand);
}

TEST(every_output_starts_anew_in_a_used_folder) {
  Hand *hand = hand_grid(3, 3), *larger = hand_grid(9, 8);
  for (int q = 0; output_name(q); q++) {
    Folder fresh = new_folder(), used = new_folder();
    MUST(hand_run(output_name(q), fresh.path, hand, 2, error));
    MUST(hand_run(output_name(q), used.path, larger, 2, error));
    MUST(hand_run(output_name(q), used.path, hand, 2, error));
    CHECK(same_folders(fresh.path, used.path));
  }
  hand_destroy(hand);
  hand_destroy(larger);
}

TEST(every_output_counts_every_first) {
  for (int q = 0; output_name(q); q++) {
    const HkParam *first = &hk_schema_at(HK_OUTPUT, q)->params[0];
    CHECK(strcmp(first->name, "every") == 0 && first->offset == 0);
    CHECK(first->kind == HK_PARAM_INTEGER && first->default_value[0] == 1);
  }
}

typedef struct Memory {
  int calls, blocks;
} Memory;

static void *counting_resize(void *user, void *p, size_t bytes) {
  Memory *memory = user;
  memory->calls++;
  memory->blocks += (p == NULL && bytes > 0) - (p != NULL && bytes == 0);
  if (bytes > 0) return realloc(p, bytes);
  free(p);
  return NULL;
}

/* Writes 4 frames; *late counts the calls for memory after the first one. */
static HkStatus run_counted(const char *name, Hand *hand, Memory *memory, int *late,
                            HkError *error) {
  HandOutput h;
  HK_TRY(hand_choose(&h, name, test_folder(), error));
  h.o.context = (HkContext){.resize = counting_resize, .memory_user = memory};
  HK_TRY(h.o.type->open(&h.o, &hand->model, error));
  HK_TRY(hand_write(&h, hand, 0, error));
  int calls = memory->calls;
  for (int k = 1; k < 4; k++) HK_TRY(hand_write(&h, hand, k, error));
  *late = memory->calls - calls;
  return hand_close(&h, error);
}

TEST(no_output_allocates_after_its_first_frame) {
  Hand *hand = hand_zoo();
  for (int q = 0; output_name(q); q++) {
    Memory memory = {0, 0};
    int late = -1;
    MUST(run_counted(output_name(q), hand, &memory, &late, error));
    CHECK(late == 0);
    CHECK(memory.blocks == 0);
  }
  hand_destroy(hand);
}

/* Fails the n-th allocation. */
static void *failing_resize(void *user, void *p, size_t bytes) {
  int *left = user;
  if (bytes > 0 && (*left)-- <= 0) return NULL;
  if (bytes > 0) return realloc(p, bytes);
  free(p);
  return NULL;
}

TEST(every_output_reports_missing_memory) {
  Hand *hand = hand_zoo();
  for (int q = 0; output_name(q); q++)
    for (int n = 0; n < 20; n++) {
      HandOutput h;
      HkError why = {0};
      int left = n;
      MUST(hand_choose(&h, output_name(q), test_folder(), error));
      h.o.context.resize = failing_resize;
      h.o.context.memory_user = &left;
      HkStatus status = h.o.type->open(&h.o, &hand->model, &why);
      CHECK(left >= 0 ? status == HK_OK : status == HK_ERROR_MEMORY);
      CHECK(status == HK_OK || strstr(why.text, "no memory"));
      MUST(hand_close(&h, error));
    }
  hand_destroy(hand);
}

TEST(every_output_names_the_file_that_does_not_fit) {
  Hand *hand = hand_grid(12, 12);
  struct rlimit old, small;
  CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  for (int q = 0; output_name(q); q++)
    for (rlim_t limit = 10; limit < 4000; limit *= 5) {
      Folder folder = new_folder();
      HkError why = {0};
      small = old;
      small.rlim_cur = limit;
      setrlimit(RLIMIT_FSIZE, &small);
      HkStatus status = hand_run(output_name(q), folder.path, hand, 200, &why);
      setrlimit(RLIMIT_FSIZE, &old);
      if (status != HK_ERROR_IO || strncmp(why.text, folder.path, strlen(folder.path)) != 0 ||
          why.text[strlen(folder.path)] != '/' || !strstr(why.text, "cannot write: File too large"))
        test_fail(__FILE__, __LINE__, "%s at %d bytes: %d '%s'", output_name(q), (int)limit,
                  (int)status, why.text);
      CHECK(count_files(folder.path, "*.tmp") == 0);
    }
  signal(SIGXFSZ, handler);
  hand_destroy(hand);
}

TEST(every_output_names_a_folder_that_cannot_be_written) {
  Hand *hand = hand_tet();
  Folder folder = new_folder();
  char below[400];
  append_garbage(folder.path, "plain");
  snprintf(below, sizeof below, "%s/plain/run", folder.path);
  for (int q = 0; output_name(q); q++)
    FAILS(hand_run(output_name(q), below, hand, 1, error), HK_ERROR_IO, below);
  hand_destroy(hand);
}

/* A link under the temporary name leads to a device that is always full. */
TEST(a_full_device_is_one_clear_error) {
  static const char *const cases[][3] = {{"energies", "energies.csv", "energies.csv"},
                                         {"probes", "probes.csv", "probes.csv"},
                                         {"solver", "solver.csv", "solver.csv"},
                                         {"pc2", "mesh.pc2", "mesh.pc2"},
                                         {"pc2", "mesh.obj.tmp", "mesh.obj"},
                                         {"vtp", "vtp.pvd", "vtp.pvd"},
                                         {"vtu", "vtu.pvd", "vtu.pvd"}};
  if (access("/dev/full", W_OK) != 0) SKIP("there is no /dev/full");
  Hand *hand = hand_grid(30, 30);
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    Folder folder = new_folder();
    char path[700], text[800];
    snprintf(path, sizeof path, "%s/%s", folder.path, cases[q][1]);
    CHECK(symlink("/dev/full", path) == 0);
    snprintf(text, sizeof text, "%s/%s: cannot write: No space left on device", folder.path,
             cases[q][2]);
    FAILS(hand_run(cases[q][0], folder.path, hand, 1, error), HK_ERROR_IO, text);
  }
  hand_destroy(hand);
}

TEST(a_file_in_the_place_of_the_frames_is_named) {
  Hand *hand = hand_tet();
  static const char *const names[] = {"obj", "vtp", "vtu"};
  for (int q = 0; q < 3; q++) {
    Folder folder = new_folder();
    append_garbage(folder.path, names[q]);
    FAILS(hand_run(names[q], folder.path, hand, 1, error), HK_ERROR_IO, "in the way of a folder");
  }
  hand_destroy(hand);
}

TEST(a_file_shorter_than_the_checkpoint_is_refused) {
  Hand *hand = hand_tet();
  static const char *const names[] = {"energies", "probes", "solver", "pc2", "vtp", "vtu"};
  for (int q = 0; q < 6; q++) {
    Folder folder = new_folder();
    MUST(hand_run(names[q], folder.path, hand, 2, error));
    HandOutput h;
    MUST(hand_choose(&h, names[q], folder.path, error));
    h.o.offset = 1000000;
    h.o.written = 2;
    FAILS(h.o.type->open(&h.o, &hand->model, error), HK_ERROR_FORMAT, "shorter than");
    MUST(hand_close(&h, error));
  }
  hand_destroy(hand);
}
