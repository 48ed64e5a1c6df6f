// What can be taken away: the shape as OBJ, a checkpoint, the scene, the measured numbers as CSV, a
// picture, and a film of what happens until it is stopped.
import type { App } from '../app';
import { COLUMN_UNITS, COLUMNS } from '../history';
import { Signal } from '../state';

function give(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  // Not at once: some browsers read it a moment later.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function tableText(app: App): string {
  const head = [...(app.comparing ? ['side'] : []),
    ...COLUMNS.map((column) => (COLUMN_UNITS[column] ? `${column} (${COLUMN_UNITS[column]})` : column))];
  const lines = [head.join(',')];
  app.sides.forEach((side, index) => {
    const columns = COLUMNS.map((column) => side.history.column(column));
    for (let q = 0; q < side.history.count; q++)
      lines.push([...(app.comparing ? [index === 0 ? 'left' : 'right'] : []), ...columns.map((column) => column[q])].join(','));
  });
  return lines.join('\n') + '\n';
}

export class Downloads {
  /** Whether a film is being recorded. */
  readonly onRecording = new Signal<boolean>();
  private recorder: MediaRecorder | null = null;

  constructor(private app: App) {}

  private name(ending: string): string {
    const name = this.app.sides[0].info?.name ?? '';
    const word = (this.app.source.builtin ?? name.replace(/\.\w+$/, '')).replace(/[^\w-]+/g, '_') || 'scene';
    return `${word}.${ending}`;
  }

  async save(what: 'obj' | 'checkpoint' | 'scene'): Promise<void> {
    const bytes = await this.app.activeSide.engine.save(what);
    const ending = what === 'obj' ? 'obj' : what === 'scene' ? 'json' : 'checkpoint';
    give(this.name(ending), bytes as Uint8Array<ArrayBuffer>, what === 'scene' ? 'application/json' : 'application/octet-stream');
  }

  table(): void { give(this.name('csv'), tableText(this.app), 'text/csv'); }

  picture(): Promise<void> {
    this.app.view.draw(); // the canvas is readable only until the browser has shown it
    return new Promise((resolve, reject) => {
      this.app.view.canvas.toBlob((blob) => {
        if (!blob) return reject(new Error('This browser gives no picture of the view.'));
        give(this.name('png'), blob, 'image/png');
        resolve();
      }, 'image/png');
    });
  }

  /** Starts a film, or ends it and gives it. */
  film(): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    if (typeof MediaRecorder === 'undefined' || !this.app.view.canvas.captureStream)
      throw new Error('This browser cannot record films of a page.');
    const type = ['video/webm;codecs=vp9', 'video/webm', 'video/mp4'].find((kind) => MediaRecorder.isTypeSupported(kind));
    if (!type) throw new Error('This browser cannot record films of a page.');
    const pieces: Blob[] = [];
    const stream = this.app.view.canvas.captureStream(60);
    const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 12_000_000 });
    recorder.ondataavailable = (event) => pieces.push(event.data);
    recorder.onstop = () => {
      this.recorder = null;
      for (const track of stream.getTracks()) track.stop();
      const ending = type.includes('mp4') ? 'mp4' : 'webm';
      give(this.name(ending), new Blob(pieces, { type }), type);
      this.onRecording.emit(false);
    };
    this.recorder = recorder;
    recorder.start(500);
    this.onRecording.emit(true);
    this.app.view.changed();
  }
}
