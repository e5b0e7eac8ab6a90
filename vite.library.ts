import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vite'
import { bundleWorker } from './scripts/bundle-worker.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const peers = Object.keys(manifest.peerDependencies)

/** The modules behind the entry points. Each module of React's is an entry, so that a bundler takes only what is used. */
const entries = [
  ...Object.values(manifest.exports).flatMap(each =>
    typeof each === 'string' ? [] : [each.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')],
  ),
  ...globSync('ui/panels/**/*.{ts,tsx}', { cwd: 'src', exclude: ['**/*.test.*'] }),
]

/**
 * The published library: ES modules that share their chunks, so that a class exists once and an entry point loads only
 * what it needs. Small packages are bundled, the peers are not. Not minified, so that stack traces stay readable.
 */
export default defineConfig({
  logLevel: 'warn',
  plugins: [bundleWorker('es2023')],
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2023',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: Object.fromEntries(entries.map(file => [file.replace(/\.tsx?$/, ''), `src/${file}`])),
      external: id => peers.some(peer => id === peer || id.startsWith(`${peer}/`)),
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        banner: ({ name }) => (name.startsWith('ui/panels/') ? "'use client'" : ''),
        codeSplitting: {
          groups: [
            { name: 'core', test: /src\/core\// },
            { name: 'client', test: /src\/client\// },
          ],
        },
      },
      // The icons carry the same directive as the banner.
      onLog: (level, log, next) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && next(level, log),
    },
  },
})
