import { cpSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'
import { bundleWorker } from './scripts/bundle-worker.ts'

/** What `main.ts` shares with commands. */
const COMMON = /src\/(cli\/(cli-error|invocation)|core\/model\/policy)\.ts$/

/** What a hook needs to ask the MCP process of its host. */
const HOOK = /src\/(cli\/(hook|server\/hook-socket|default-paths)|hosts\/(hook-event|hosts))\.ts$/

/** Setup copies it into OpenCode's settings as it is. It lies beside the program as it lies beside the source. */
const opencodePlugin: Plugin = {
  name: 'opencode-plugin',
  writeBundle: () => cpSync('src/hosts/opencode-plugin.js', 'dist/hosts/opencode-plugin.js'),
}

/**
 * The published program, self-contained, with one chunk per command: it starts in half the time of hundreds of files. Not
 * minified, so that stack traces stay readable.
 */
export default defineConfig({
  logLevel: 'warn',
  plugins: [bundleWorker('node22'), opencodePlugin],
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
        codeSplitting: {
          groups: [
            // Apart from `main.ts`, which awaits the command's import and would deadlock.
            { name: 'common', test: COMMON, priority: 6 },
            // A host waits for each hook: it loads no more than it needs, one file after the other.
            { name: 'hook', test: HOOK, priority: 9 },
            // So does a prompt or a status bar.
            { name: 'status-line', test: /src\/cli\/status-line\.ts$/, priority: 5 },
          ],
        },
      },
    },
  },
})
