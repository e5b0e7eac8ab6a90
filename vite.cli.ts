import { defineConfig } from 'vite'
import { bundleWorker } from './scripts/bundle-worker.ts'

/**
 * The published program, self-contained, with one chunk per command: it starts in half the time of hundreds of files. Not
 * minified, so that stack traces stay readable.
 */
export default defineConfig({
  logLevel: 'warn',
  plugins: [bundleWorker('node22')],
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/bin.ts',
    // As deep as the source, so that relative paths to package.json and the page are the same.
    outDir: 'dist/cli',
    target: 'node22',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      output: {
        entryFileNames: 'runsheet.js',
        chunkFileNames: '[name]-[hash].js',
        // A host waits for `mcp` at each start, so that command is one file, shared modules included.
        codeSplitting: {
          groups: [
            // Apart from `main.ts`, which awaits the command's import and would deadlock.
            { name: 'common', test: /src\/(cli\/(cli-error|invocation|version)|domain\/policy)\.ts$/, priority: 2 },
            // A host waits for each hook: what that needs is one file, which other commands share.
            { name: 'hook', test: /src\/cli\/hook\.ts$/, priority: 1.5 },
            { name: 'mcp', test: /src\/cli\/mcp\.ts$/, priority: 1 },
          ],
        },
      },
    },
  },
})
