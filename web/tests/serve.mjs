// A static file server for the tests, as plain as any: no headers of its own, any path below.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm', '.png': 'image/png',
};

/** Serves a folder below a path such as /some/where/; returns its address and a way to end it. */
export async function serve(folder, below = '/') {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    const inside = path.startsWith(below) ? normalize(path.slice(below.length) || 'index.html') : '..';
    try {
      if (inside.startsWith('..')) throw new Error('outside');
      const content = await readFile(join(folder, inside));
      response.writeHead(200, { 'content-type': TYPES[extname(inside)] ?? 'application/octet-stream', 'content-length': content.length });
      response.end(content);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}${below}`, close: () => server.close() };
}
