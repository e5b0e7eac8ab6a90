import { defineConfig, type Plugin } from 'vite'

/**
 * The published panels, one file per module, so that a consumer's bundler takes only what is used. Icons and drag and
 * drop are bundled: a thousandth of those packages is needed. React and our other modules stay outside: a class must
 * exist once.
 */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  plugins: [otherLayersExternal()],
  build: {
    lib: { entry: 'src/react/index.ts', formats: ['es'] },
    outDir: 'dist/react',
    emptyOutDir: false,
    target: 'es2023',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      external: /^react(\/|$)/,
      output: {
        banner: "'use client'",
        preserveModules: true,
        preserveModulesRoot: 'src/react',
        // npm leaves folders called node_modules out of a package.
        entryFileNames: ({ name }) => `${name.replace(/^.*node_modules\//, 'vendor/')}.js`,
      },
      // The icons carry the same directive as the banner.
      onLog: (level, log, next) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && next(level, log),
    },
  },
})

/** Leaves imports from outside of src/react as they are: those modules are compiled by themselves. */
function otherLayersExternal(): Plugin {
  return {
    name: 'other-layers-external',
    enforce: 'pre',
    resolveId: (source, importer) =>
      source.startsWith('../') && !importer?.includes('node_modules')
        ? { id: source.replace(/\.ts$/, '.js'), external: true }
        : undefined,
  }
}
