import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const OUT = 'dist/site';
/** What a browser may load before the dashboard is there. */
const LARGEST_GZIP_KB = 200;

/** Writes each file compressed beside itself, as the binary serves it, and holds the whole to its limit. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      let total = 0;
      for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || entry.name.endsWith('.gz')) continue;
        const path = join(entry.parentPath, entry.name);
        const small = gzipSync(readFileSync(path), { level: 9 });
        writeFileSync(`${path}.gz`, small);
        total += small.length;
      }
      const kb = Math.ceil(total / 1024);
      console.log(`${kb} kB compressed, of ${LARGEST_GZIP_KB}`);
      if (kb > LARGEST_GZIP_KB)
        throw new Error(`the dashboard has ${kb} kB compressed; the limit is ${LARGEST_GZIP_KB}`);
    },
  };
}

export default defineConfig({
  // Relative, so that the same files serve under any base path of `--public-url`.
  base: './',
  plugins: [svelte(), compressed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/api': process.env.ABIDE_URL ?? 'http://127.0.0.1:22433' } },
  test: { include: ['src/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
