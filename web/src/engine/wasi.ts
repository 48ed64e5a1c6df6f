// What the C library of the WebAssembly engine asks of a system (WASI preview 1), as far as Hooke
// needs it: files in memory below one open folder "/", clocks, random numbers, and an error stream
// that goes to the console. Whatever else a module imports answers ENOSYS.
import { MemoryFile, MemoryFiles } from './memory_files';

const OK = 0, EBADF = 8, EEXIST = 20, EINVAL = 28, EISDIR = 31, ENOENT = 44, ENOSYS = 52;
const ENOTDIR = 54, ENOTEMPTY = 55;
const ROOT = 3; // the number of the folder that is open from the start
const TYPE_CHARACTER = 2, TYPE_FOLDER = 3, TYPE_FILE = 4;
const CREATE = 1, FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8; // of path_open
const APPEND = 1; // of a file's flags

interface Open {
  path: string;
  file: MemoryFile | null; // null: a folder
  offset: number;
  append: boolean;
}

type Import = (...args: never[]) => number | void;

/** Thrown where the program would end. */
export class ProgramEnd extends Error {
  constructor(code: number) { super(`the engine ended with status ${code}`); }
}

export class Wasi {
  private memory: WebAssembly.Memory | null = null;
  private opened = new Map<number, Open>([[ROOT, { path: '', file: null, offset: 0, append: false }]]);
  private line = '';

  constructor(private files = new MemoryFiles(), private log: (line: string) => void = console.warn) {}

  /** Imports for a module, with a stub for each function that is not known here. */
  imports(module: WebAssembly.Module): WebAssembly.Imports {
    const known = this.functions();
    const result: Record<string, Record<string, WebAssembly.ImportValue>> = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function') continue;
      (result[from] ??= {})[name] = (known[name] as (() => number) | undefined) ?? (() => ENOSYS);
    }
    return result;
  }

  /** Called once the module's memory is there. */
  attach(memory: WebAssembly.Memory): void { this.memory = memory; }

  // The memory may have grown since the last call, so that every look is a new one.
  private view(): DataView { return new DataView(this.memory!.buffer); }
  private bytes(at: number, size: number): Uint8Array { return new Uint8Array(this.memory!.buffer, at, size); }
  private path(folder: number, at: number, size: number): string | null {
    const base = this.opened.get(folder);
    if (!base || base.file) return null;
    // A copy: decoders refuse memory that may be shared or grow.
    return MemoryFiles.normalize(base.path + '/' + new TextDecoder().decode(this.bytes(at, size).slice()));
  }

  private functions(): Record<string, Import> {
    return { ...this.streamFunctions(), ...this.pathFunctions(), ...this.systemFunctions() };
  }

  private *buffers(at: number, count: number): Generator<Uint8Array> {
    for (let q = 0; q < count; q++) {
      const view = this.view();
      yield this.bytes(view.getUint32(at + 8 * q, true), view.getUint32(at + 8 * q + 4, true));
    }
  }

  private print(at: number, count: number): number {
    let written = 0;
    for (const piece of this.buffers(at, count)) {
      this.line += new TextDecoder().decode(piece.slice());
      written += piece.length;
    }
    const lines = this.line.split('\n');
    this.line = lines.pop()!;
    for (const line of lines) this.log(line);
    return written;
  }

  private transfer(fd: number, at: number, count: number, result: number, write: boolean, offset?: bigint): number {
    const open = this.opened.get(fd);
    if (!open?.file) return open ? EISDIR : EBADF;
    let place = offset !== undefined ? Number(offset) : write && open.append ? open.file.size : open.offset;
    let moved = 0;
    for (const piece of this.buffers(at, count)) {
      const part = write ? (open.file.write(place, piece), piece.length) : open.file.read(place, piece);
      place += part;
      moved += part;
      if (part < piece.length) break;
    }
    if (offset === undefined) open.offset = place;
    this.view().setUint32(result, moved, true);
    return OK;
  }

  private streamFunctions(): Record<string, Import> {
    return {
      fd_write: (fd: number, at: number, count: number, result: number) => {
        if (fd !== 1 && fd !== 2) return this.transfer(fd, at, count, result, true);
        this.view().setUint32(result, this.print(at, count), true);
        return OK;
      },
      fd_read: (fd: number, at: number, count: number, result: number) => {
        if (fd !== 0) return this.transfer(fd, at, count, result, false);
        this.view().setUint32(result, 0, true);
        return OK;
      },
      fd_pread: (fd: number, at: number, count: number, offset: bigint, result: number) =>
        this.transfer(fd, at, count, result, false, offset),
      fd_pwrite: (fd: number, at: number, count: number, offset: bigint, result: number) =>
        this.transfer(fd, at, count, result, true, offset),
      fd_seek: (fd: number, offset: bigint, whence: number, result: number) => {
        const open = this.opened.get(fd);
        if (!open?.file) return EBADF;
        const from = whence === 0 ? 0 : whence === 1 ? open.offset : open.file.size;
        const place = from + Number(offset);
        if (place < 0) return EINVAL;
        open.offset = place;
        this.view().setBigUint64(result, BigInt(place), true);
        return OK;
      },
      fd_tell: (fd: number, result: number) => {
        const open = this.opened.get(fd);
        if (!open?.file) return EBADF;
        this.view().setBigUint64(result, BigInt(open.offset), true);
        return OK;
      },
      fd_close: (fd: number) => (this.opened.delete(fd) || fd < ROOT ? OK : EBADF),
      fd_sync: () => OK,
      fd_datasync: () => OK,
      fd_advise: () => OK,
      fd_fdstat_set_flags: () => OK,
      fd_fdstat_get: (fd: number, at: number) => {
        const open = this.opened.get(fd);
        if (!open && fd >= ROOT) return EBADF;
        this.bytes(at, 24).fill(0);
        const view = this.view();
        view.setUint8(at, !open ? TYPE_CHARACTER : open.file ? TYPE_FILE : TYPE_FOLDER);
        view.setUint16(at + 2, open?.append ? APPEND : 0, true);
        view.setBigUint64(at + 8, 0xffffffffffffffffn, true); // all rights
        view.setBigUint64(at + 16, 0xffffffffffffffffn, true);
        return OK;
      },
      fd_filestat_get: (fd: number, at: number) => {
        const open = this.opened.get(fd);
        if (!open && fd >= ROOT) return EBADF;
        return this.stat(at, !open ? TYPE_CHARACTER : open.file ? TYPE_FILE : TYPE_FOLDER, open?.file?.size ?? 0);
      },
      fd_filestat_set_size: (fd: number, size: bigint) => {
        const file = this.opened.get(fd)?.file;
        if (!file) return EBADF;
        file.resize(Number(size));
        return OK;
      },
      fd_prestat_get: (fd: number, at: number) => {
        if (fd !== ROOT) return EBADF;
        this.view().setUint32(at, 0, true);
        this.view().setUint32(at + 4, 1, true); // the length of "/"
        return OK;
      },
      fd_prestat_dir_name: (fd: number, at: number, size: number) => {
        if (fd !== ROOT || size < 1) return EINVAL;
        this.bytes(at, 1)[0] = 0x2f;
        return OK;
      },
      fd_readdir: (fd: number, at: number, size: number, cookie: bigint, result: number) =>
        this.readFolder(fd, at, size, Number(cookie), result),
    } as Record<string, Import>;
  }

  private stat(at: number, type: number, size: number): number {
    this.bytes(at, 64).fill(0);
    const view = this.view();
    view.setUint8(at + 16, type);
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(size), true);
    return OK;
  }

  private readFolder(fd: number, at: number, size: number, cookie: number, result: number): number {
    const open = this.opened.get(fd);
    if (!open || open.file) return EBADF;
    const out = new Uint8Array(size);
    let used = 0;
    const entries = this.files.list(open.path);
    for (let q = cookie; q < entries.length && used < size; q++) {
      const name = new TextEncoder().encode(entries[q].name);
      const entry = new Uint8Array(24 + name.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(q + 1), true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, entries[q].folder ? TYPE_FOLDER : TYPE_FILE);
      entry.set(name, 24);
      out.set(entry.subarray(0, size - used), used);
      used += Math.min(entry.length, size - used);
    }
    this.bytes(at, used).set(out.subarray(0, used));
    this.view().setUint32(result, used, true);
    return OK;
  }

  private open(path: string, how: number, flags: number): Open | number {
    if (this.files.isFolder(path)) {
      if (how & CREATE) return how & EXCLUSIVE ? EEXIST : EISDIR;
      return { path, file: null, offset: 0, append: false };
    }
    let file = this.files.file(path);
    if (how & FOLDER) return file ? ENOTDIR : ENOENT;
    if (file && how & CREATE && how & EXCLUSIVE) return EEXIST;
    if (!file) {
      if (!(how & CREATE) || !this.files.parentExists(path)) return ENOENT;
      file = this.files.create(path);
    }
    if (how & TRUNCATE) file.resize(0);
    return { path, file, offset: 0, append: (flags & APPEND) !== 0 };
  }

  private pathFunctions(): Record<string, Import> {
    const onPath = (act: (path: string) => number) => (fd: number, at: number, size: number) => {
      const path = this.path(fd, at, size);
      return path === null ? EBADF : act(path);
    };
    return {
      path_open: (fd: number, _follow: number, at: number, size: number, how: number, _rights: bigint,
        _inherited: bigint, flags: number, result: number) => {
        const path = this.path(fd, at, size);
        const open = path === null ? EBADF : this.open(path, how, flags);
        if (typeof open === 'number') return open;
        let number = ROOT + 1;
        while (this.opened.has(number)) number++;
        this.opened.set(number, open);
        this.view().setUint32(result, number, true);
        return OK;
      },
      path_filestat_get: (fd: number, _flags: number, at: number, size: number, result: number) => {
        const path = this.path(fd, at, size);
        if (path === null) return EBADF;
        const file = this.files.file(path);
        if (file) return this.stat(result, TYPE_FILE, file.size);
        return this.files.isFolder(path) ? this.stat(result, TYPE_FOLDER, 0) : ENOENT;
      },
      path_unlink_file: onPath((path) =>
        this.files.remove(path) ? OK : this.files.isFolder(path) ? EISDIR : ENOENT),
      path_create_directory: onPath((path) => {
        if (this.files.isFolder(path) || this.files.file(path)) return EEXIST;
        if (!this.files.parentExists(path)) return ENOENT;
        this.files.makeFolder(path);
        return OK;
      }),
      path_remove_directory: onPath((path) =>
        !this.files.isFolder(path) ? ENOENT : this.files.removeFolder(path) ? OK : ENOTEMPTY),
      path_rename: (fd: number, at: number, size: number, toFd: number, toAt: number, toSize: number) => {
        const from = this.path(fd, at, size), to = this.path(toFd, toAt, toSize);
        if (from === null || to === null) return EBADF;
        return this.files.rename(from, to) ? OK : ENOENT;
      },
    } as Record<string, Import>;
  }

  private systemFunctions(): Record<string, Import> {
    const none = (count: number, size: number) => {
      this.view().setUint32(count, 0, true);
      this.view().setUint32(size, 0, true);
      return OK;
    };
    return {
      args_sizes_get: none,
      args_get: () => OK,
      environ_sizes_get: none,
      environ_get: () => OK,
      clock_res_get: (_clock: number, result: number) => {
        this.view().setBigUint64(result, 1000n, true);
        return OK;
      },
      clock_time_get: (clock: number, _precision: bigint, result: number) => {
        const milliseconds = clock === 0 ? Date.now() : performance.now();
        this.view().setBigUint64(result, BigInt(Math.round(milliseconds * 1e6)), true);
        return OK;
      },
      random_get: (at: number, size: number) => {
        for (let q = 0; q < size; q += 65536) {
          const piece = new Uint8Array(Math.min(65536, size - q));
          crypto.getRandomValues(piece);
          this.bytes(at + q, piece.length).set(piece);
        }
        return OK;
      },
      sched_yield: () => OK,
      proc_exit: (code: number) => { throw new ProgramEnd(code); },
    } as Record<string, Import>;
  }
}
