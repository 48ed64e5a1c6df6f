/* ParaView's list of frames; see pvd.h. */
#include "output/pvd.h"

#include <string.h>

static const char head[] = "<?xml version=\"1.0\"?>\n"
                           "<VTKFile type=\"Collection\" version=\"0.1\" "
                           "byte_order=\"LittleEndian\">\n<Collection>\n";
static const char tail[] = "</Collection>\n</VTKFile>\n";

static void file_name(const char *name, char path[64]) {
  snprintf(path, 64, "%s.pvd", name);
}

/* Writes text and the closing tags at once, and seeks back to the tags. */
static HkStatus put(HkOutput *o, const char *path, FILE *file, const char *text, HkError *error) {
  fputs(text, file);
  fputs(tail, file);
  HK_TRY(hk_output_append_flush(o, file, path, error));
  o->offset -= (int64_t)strlen(tail);
  return hk_output_append_seek(o, file, path, o->offset, error);
}

HkStatus hk_pvd_open(HkOutput *o, const char *name, FILE **file, HkError *error) {
  char path[64];
  file_name(name, path);
  bool anew = o->offset == 0;
  HK_TRY(hk_output_append_open(o, path, file, error));
  return put(o, path, *file, anew ? head : "", error);
}

HkStatus hk_pvd_add(HkOutput *o, const char *name, FILE *file, const HkFrame *frame,
                    HkError *error) {
  char path[64], text[256];
  file_name(name, path);
  snprintf(text, sizeof text,
           "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s/frame_%06lld.%s%s\"/>\n",
           frame->state->time, name, (long long)frame->index, o->context.ranks ? "p" : "",
           hk_output_ending(o->type));
  return put(o, path, file, text, error);
}

HkStatus hk_pvd_close(const HkOutput *o, const char *name, FILE **file, HkError *error) {
  char path[64];
  file_name(name, path);
  return hk_output_append_close(o, file, path, error);
}
