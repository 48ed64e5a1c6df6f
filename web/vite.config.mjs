// One folder of static files that works under any path: every address in it is relative. The names
// of the scenes that have a thumbnail are known when it is built, so that none is asked for in vain.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const folder = fileURLToPath(new URL('public/thumbs', import.meta.url));
const thumbs = existsSync(folder)
  ? readdirSync(folder).filter((name) => name.endsWith('.svg')).map((name) => name.slice(0, -4))
  : [];

export default defineConfig(({ mode }) => ({
  base: './',
  define: {
    __THUMBS__: JSON.stringify(thumbs),
    __MOCK__: JSON.stringify(mode === 'development' || mode === 'mock'),
  },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: mode === 'mock' ? 'dist-mock' : 'dist',
    assetsDir: 'assets',
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: { manualChunks: { three: ['three'], uplot: ['uplot'] } },
    },
  },
}));
