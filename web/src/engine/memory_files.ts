// A small file system in memory for the WebAssembly engine: meshes that a person drops are put here
// by the engine itself, with fopen, and read back the same way. Paths are kept without the leading
// slash; "" is the root.

/** One file: the first size bytes of data, which grows by doubling. */
export class MemoryFile {
  data = new Uint8Array(0);
  size = 0;

  resize(size: number): void {
    if (size > this.data.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.data.length, 256));
      larger.set(this.data.subarray(0, this.size));
      this.data = larger;
    }
    if (size < this.size) this.data.fill(0, size, this.size);
    this.size = size;
  }

  read(offset: number, into: Uint8Array): number {
    const count = Math.max(0, Math.min(into.length, this.size - offset));
    into.set(this.data.subarray(offset, offset + count));
    return count;
  }

  write(offset: number, from: Uint8Array): void {
    if (offset + from.length > this.size) this.resize(offset + from.length);
    this.data.set(from, offset);
  }
}

export interface Entry {
  name: string;
  folder: boolean;
}

export class MemoryFiles {
  private files = new Map<string, MemoryFile>();
  private folders = new Set<string>(['']);

  /** Without '.', '..' and doubled slashes; '..' at the root stays at the root. */
  static normalize(path: string): string {
    const parts: string[] = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part === '..') parts.pop();
      else parts.push(part);
    }
    return parts.join('/');
  }

  file(path: string): MemoryFile | undefined { return this.files.get(path); }
  isFolder(path: string): boolean { return this.folders.has(path); }
  parentExists(path: string): boolean {
    return this.folders.has(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  }

  create(path: string): MemoryFile {
    const file = new MemoryFile();
    this.files.set(path, file);
    return file;
  }

  makeFolder(path: string): void { this.folders.add(path); }
  remove(path: string): boolean { return this.files.delete(path); }
  removeFolder(path: string): boolean {
    if (path === '' || this.list(path).length > 0) return false;
    return this.folders.delete(path);
  }

  rename(from: string, to: string): boolean {
    const file = this.files.get(from);
    if (!file) return false;
    this.files.delete(from);
    this.files.set(to, file);
    return true;
  }

  list(folder: string): Entry[] {
    const prefix = folder === '' ? '' : folder + '/';
    const inside = (path: string) =>
      path !== '' && path.startsWith(prefix) && !path.slice(prefix.length).includes('/');
    return [
      ...[...this.folders].filter(inside).map((path) => ({ name: path.slice(prefix.length), folder: true })),
      ...[...this.files.keys()].filter(inside).map((path) => ({ name: path.slice(prefix.length), folder: false })),
    ];
  }
}
