import { defineConfig } from 'vite'

/**
 * The program that is published: one chunk for each command, with all that it needs. Reading a few files starts it in half
 * the time of reading hundreds. It stays readable, so that a stack trace says something.
 */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/bin.ts',
    // As deep as the source: the package and the page are found from there in the same way.
    outDir: 'dist/cli',
    target: 'node24',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      output: {
        entryFileNames: 'runsheet.js',
        chunkFileNames: '[name]-[hash].js',
        // A host waits for `mcp` each time it starts: what that needs is one file, whoever shares it.
        codeSplitting: {
          groups: [
            // Not in the same as `main.ts`, which waits for the command while that is loaded.
            { name: 'common', test: /src\/(cli\/(cli-error|invocation|version)|domain\/policy)\.ts$/, priority: 2 },
            { name: 'mcp', test: /src\/cli\/mcp\.ts$/, priority: 1 },
          ],
        },
      },
    },
  },
})
