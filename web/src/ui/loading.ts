// What stands over the view until there is something to see: first the whole loading of the engine,
// later only a spring that swings while a large scene is made.

const PATIENCE = 300; // ms before a short wait is shown at all

export class Loading {
  private cover = document.getElementById('loading')!;
  private text = document.getElementById('loading-text')!;
  private bar = document.getElementById('loading-bar') as HTMLProgressElement;
  private timer = 0;
  private first = true;

  progress(part: number): void {
    this.bar.value = part;
    if (part >= 1) this.text.textContent = 'Starting …';
  }

  /** The first scene is there. */
  done(): void {
    this.first = false;
    this.cover.classList.add('done', 'thin');
    this.bar.hidden = true;
    this.text.textContent = '';
  }

  /** Another scene is being loaded, or is there. */
  again(now: boolean): void {
    if (this.first) return;
    clearTimeout(this.timer);
    if (now) this.timer = window.setTimeout(() => this.cover.classList.remove('done'), PATIENCE);
    else this.cover.classList.add('done');
  }

  failed(error: unknown): void {
    this.cover.className = 'failed';
    this.cover.setAttribute('role', 'alert');
    this.cover.querySelector('.coil')?.remove();
    this.bar.hidden = true;
    this.text.textContent = error instanceof Error ? error.message : String(error);
  }
}
