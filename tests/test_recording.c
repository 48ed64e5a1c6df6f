/* What a report keeps of a run: frames and rows that are thinned, numbers in few bits, and what of
 * a model is drawn. */
#include "frames_by_hand.h"
#include "report/recording.h"
#include "world.h"

/* ---- Thinning ---- */

TEST(thinning_keeps_first_and_last_within_its_capacity) {
  for (int64_t capacity = 1; capacity <= 9; capacity++) {
    HkThin t = hk_thin(capacity);
    int64_t items[16];
    for (int64_t number = 0; number < 500; number++) {
      while (hk_thin_is_full(&t, number)) {
        int64_t kept = 0;
        t.stride *= 2;
        for (int64_t q = 0; q < t.kept; q++)
          if (items[q] % t.stride == 0) items[kept++] = items[q];
        t.kept = kept;
      }
      items[hk_thin_add(&t, number)] = number;
      int64_t count = hk_thin_count(&t);
      CHECK(count <= capacity + 1 && items[0] == 0 && items[count - 1] == number);
      for (int64_t q = 1; q < count; q++) CHECK(items[q] > items[q - 1]);
      for (int64_t q = 0; q + 1 < count; q++) CHECK(items[q] == q * t.stride);
    }
    CHECK(hk_thin_count(&t) > capacity / 2);
  }
}

typedef struct Taped {
  HkSketch sketch;
  HkRecording r;
} Taped;

static HkStatus tape(Taped *t, const HkModel *model, int64_t frames, int64_t rows, HkError *error) {
  HkContext c = hk_context_default();
  HK_TRY(hk_sketch_create(&c, model, 1000000, 100000000, &t->sketch, error));
  return hk_recording_create(&c, model, &t->sketch, frames, rows, &t->r, error);
}

static void tape_destroy(Taped *t) {
  HkContext c = hk_context_default();
  hk_recording_destroy(&t->r);
  hk_sketch_destroy(&c, &t->sketch);
}

TEST(recording_keeps_first_and_last_frame_and_all_work) {
  Hand *hand = hand_grid(3, 2);
  for (int64_t capacity = 1; capacity < 8; capacity++) {
    Taped t;
    MUST(tape(&t, &hand->model, capacity, capacity, error));
    for (int64_t k = 0; k < 61; k++) {
      HkFrame frame = hand_frame(hand, k);
      HkTally work = {.steps = k, .iterations = 2 * k, .worst_iterations = k};
      hk_recording_add(&t.r, &frame, &work, 0.5 * (double)k);
    }
    int64_t frames = hk_thin_count(&t.r.frames), rows = hk_thin_count(&t.r.rows);
    CHECK(frames >= 2 && frames <= capacity + 1 && rows == frames);
    double steps = 0, seconds = 0, iterations = 0, worst = 0, before = -1;
    for (int64_t q = 0; q < rows; q++) {
      const double *row = t.r.row + HK_ROW_COUNT * q, *head = t.r.head + HK_HEAD_COUNT * q;
      CHECK(head[HK_HEAD_TIME] > before && row[HK_ROW_TIME] == head[HK_HEAD_TIME]);
      before = head[HK_HEAD_TIME];
      steps += row[HK_ROW_STEPS];
      seconds += row[HK_ROW_SECONDS];
      iterations += row[HK_ROW_ITERATIONS];
      worst = fmax(worst, row[HK_ROW_WORST]);
    }
    CHECK(t.r.head[HK_HEAD_INDEX] == 0 && before == 0.1 * 60);
    CHECK(steps == 1830 && iterations == 3660 && seconds == 915 && worst == 60);
    tape_destroy(&t);
  }
  hand_destroy(hand);
}

/* ---- Quantization ---- */

TEST(quantized_positions_are_within_a_65535th_of_the_box) {
  Hand *hand = hand_grid(17, 13);
  Taped t;
  MUST(tape(&t, &hand->model, 4, 4, error));
  for (int k = 0; k < 4; k++) {
    HkFrame frame = hand_frame(hand, k);
    for (int64_t q = 0; q < 3 * hand->model.n; q++)
      hand->state.x[q] = 1e3 * k + sin((double)(q * q + k)) * pow(10, (double)(q % 3 - 1));
    hk_recording_add(&t.r, &frame, &(HkTally){0}, 0);
    const double *head = t.r.head + HK_HEAD_COUNT * k;
    for (int64_t q = 0; q < hand->model.n; q++) {
      const unsigned char *at = t.r.shape + HK_FRAME_BYTES * (hand->model.n * k + q);
      for (int c = 0; c < 3; c++) {
        double low = head[HK_HEAD_LOW + c], high = head[HK_HEAD_HIGH + c];
        double x = hk_dequantize(at[2 * c] | (unsigned)at[2 * c + 1] << 8, low, high);
        CHECK_NEAR(x, hand->state.x[3 * q + c], (high - low) / 65535);
      }
    }
  }
  tape_destroy(&t);
  hand_destroy(hand);
}

TEST(strain_and_speed_are_within_a_step_of_their_bytes) {
  Hand *hand = hand_grid(9, 2); /* springs along x have the strain k / 4 */
  Taped t;
  MUST(tape(&t, &hand->model, 4, 4, error));
  HkFrame frame = hand_frame(hand, 2);
  hk_recording_add(&t.r, &frame, &(HkTally){0}, 0);
  for (int64_t q = 0; q < hand->model.n; q++) {
    double mean = 0, count = 0;
    for (int64_t e = hand->model.adj_start[q]; e < hand->model.adj_start[q + 1]; e++, count++) {
      int64_t s = hand->model.adj_spring[e];
      mean += hk_distance(hand->state.x + 3 * hand->model.springs.i[s],
                          hand->state.x + 3 * hand->model.springs.j[s]) /
                  hand->model.springs.l0[s] -
              1;
    }
    mean /= count;
    double strain = t.r.head[HK_HEAD_STRAIN];
    double speed = hk_norm(hand->state.v + 3 * q), most = t.r.head[HK_HEAD_SPEED];
    CHECK_NEAR(hk_unpack_strain(t.r.shape[8 * q + 6], strain), mean, strain / 127);
    CHECK_NEAR(most / 255 * t.r.shape[8 * q + 7], speed, most / 255);
    CHECK(strain > 0 && most > 0);
  }
  tape_destroy(&t);
  hand_destroy(hand);
}

TEST(strains_of_every_size_and_sign_survive_their_byte) {
  for (double strain = -1; strain <= 1; strain += 1.0 / 256) {
    double back = hk_unpack_strain(hk_pack_strain(strain, 1), 1);
    CHECK_NEAR(back, strain, (sqrt(fabs(strain)) + 0.002) / 127);
  }
  CHECK(hk_unpack_strain(hk_pack_strain(0, 0), 0) == 0);
  CHECK(hk_unpack_strain(hk_pack_strain(-3, 3), 3) == -3);
}

TEST(what_is_not_finite_leaves_the_box_finite) {
  Hand *hand = hand_grid(4, 4);
  Taped t;
  MUST(tape(&t, &hand->model, 4, 4, error));
  HkFrame frame = hand_frame(hand, 1);
  hand->state.x[3] = NAN;
  hand->state.x[7] = INFINITY;
  hand->state.x[11] = -1e300;
  hand->state.v[4] = NAN;
  hk_recording_add(&t.r, &frame, &(HkTally){0}, 0);
  for (int c = 0; c < HK_HEAD_COUNT; c++) CHECK(isfinite(t.r.head[c]) && fabs(t.r.head[c]) < 100);
  CHECK(t.r.blurred);
  tape_destroy(&t);
  hand_destroy(hand);
}

/* ---- What is drawn ---- */

static void check_sketch(const HkSketch *s, const HkModel *m) {
  for (int64_t q = 0; q < s->n; q++) CHECK(s->vertex[q] >= 0 && s->vertex[q] < m->n);
  for (int64_t q = 0; q < 3 * s->face_count; q++) CHECK(s->face[q] >= 0 && s->face[q] < s->n);
  for (int64_t q = 0; q < s->spring_count; q++)
    CHECK(s->spring[2 * q] >= 0 && s->spring[2 * q] < s->spring[2 * q + 1] &&
          s->spring[2 * q + 1] < s->n);
  CHECK(s->kinds[0] + s->kinds[1] + s->kinds[2] + s->kinds[3] == s->spring_count);
  for (int64_t q = 0; q < s->pin_count; q++) CHECK(s->pin[q] >= 0 && s->pin[q] < s->n);
}

TEST(small_models_are_drawn_as_they_are) {
  World w = world_builtin("flag", NULL, 1);
  HkContext c = hk_context_default();
  HkSketch s;
  MUST(hk_sketch_create(&c, w.model, 5000, 1000000, &s, error));
  CHECK(s.way == HK_SKETCH_ALL && s.n == w.model->n && s.pin_count == w.model->pin_count);
  CHECK(s.face_count == w.model->face_count && s.spring_count == w.model->springs.count);
  check_sketch(&s, w.model);
  hk_sketch_destroy(&c, &s);
  world_destroy(&w);
}

TEST(large_cloth_is_drawn_by_cells_with_its_pins) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'grid', 'nx': 120, 'ny': 90}, 'springs': "
                        "{'shear': true}}], 'pins': [{'select': 'top_left'}, {'select': "
                        "'top_right', 'release': 2}]}");
  HkContext c = hk_context_default();
  HkSketch s;
  MUST(hk_sketch_create(&c, w.model, 1000, 1000000, &s, error));
  CHECK(s.way == HK_SKETCH_CELLS && s.n <= 1000 && s.n > 600);
  CHECK(s.pin_count == 2 && s.release[0] + s.release[1] == INFINITY);
  CHECK(s.face_count > s.n && s.face_count < 3 * s.n && s.spring_count > s.n);
  check_sketch(&s, w.model);
  double *x = w.model->x0, longest = 0;
  for (int64_t q = 0; q < s.spring_count; q++)
    longest = fmax(longest, hk_distance(x + 3 * s.vertex[s.spring[2 * q]],
                                        x + 3 * s.vertex[s.spring[2 * q + 1]]));
  CHECK(longest < 0.15);
  hk_sketch_destroy(&c, &s);
  world_destroy(&w);
}

TEST(solids_that_are_too_large_show_their_surface) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'block', 'nx': 10, 'ny': 10, 'nz': 10}}]}");
  HkContext c = hk_context_default();
  HkSketch s;
  MUST(hk_sketch_create(&c, w.model, 900, 1000000, &s, error));
  CHECK(s.way == HK_SKETCH_SURFACE && s.n == 1000 - 8 * 8 * 8);
  CHECK(s.face_count == w.model->face_count && s.spring_count < w.model->springs.count);
  check_sketch(&s, w.model);
  hk_sketch_destroy(&c, &s);
  MUST(hk_sketch_create(&c, w.model, 100, 1000000, &s, error));
  CHECK(s.way == HK_SKETCH_CELLS && s.n <= 100);
  check_sketch(&s, w.model);
  hk_sketch_destroy(&c, &s);
  world_destroy(&w);
}

TEST(faces_and_springs_beyond_their_room_are_thinned_evenly) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'grid', 'nx': 40, 'ny': 40}}]}");
  HkContext c = hk_context_default();
  HkSketch s;
  MUST(hk_sketch_create(&c, w.model, 5000, 16000, &s, error));
  CHECK(s.way == HK_SKETCH_ALL && s.face_count <= 1000 && s.face_count > 700);
  CHECK(hk_sketch_bytes(&s) <= 16000 && s.spring_count > 100);
  CHECK(s.face[3 * s.face_count - 1] > 1300); /* to the other end of the cloth */
  check_sketch(&s, w.model);
  hk_sketch_destroy(&c, &s);
  world_destroy(&w);
}

TEST(more_bodies_than_cells_share_them) {
  HkScene *scene;
  HkModel *model;
  HkSketch s;
  HkContext c = hk_context_default();
  MUST(hk_scene_create(NULL, &scene, error));
  for (int q = 0; q < 60; q++) {
    HkBody body = hk_body_default();
    body.transform.translate[0] = q;
    MUST(hk_method_choose(&body.shape, HK_SHAPE, "chain", error));
    MUST(hk_scene_add_body(scene, &body, NULL, error));
    hk_method_clear(&body.shape);
  }
  MUST(hk_model_compile(scene, &model, error));
  MUST(hk_sketch_create(&c, model, 20, 1000, &s, error));
  CHECK(s.n <= 20 && s.n > 5);
  check_sketch(&s, model);
  hk_sketch_destroy(&c, &s);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}
