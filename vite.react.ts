import { defineConfig, type Plugin } from 'vite'

/**
 * The panels that are published. The icons and the dragging that they use are in it: of what these packages weigh it needs
 * a thousandth. React is the page's own, and our modules are those that `runsheet/client` has: a class is there once.
 */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  plugins: [ours()],
  build: {
    lib: { entry: 'src/react/index.ts', formats: ['es'], fileName: 'index' },
    outDir: 'dist/react',
    emptyOutDir: false,
    target: 'es2023',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      external: /^react(\/|$)/,
      // The icons say that they are for the client only, as all of this is.
      onLog: (level, log, next) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && next(level, log),
    },
  },
})

/** What lies outside of the folder stays there, compiled by itself. */
function ours(): Plugin {
  return {
    name: 'ours',
    enforce: 'pre',
    resolveId: (source, importer) =>
      source.startsWith('../') && !importer?.includes('node_modules')
        ? { id: source.replace(/\.ts$/, '.js'), external: true }
        : undefined,
  }
}
