import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url))

/** The page. It loads nothing from other origins. */
export default defineConfig({
  root: 'src/ui/page',
  base: './',
  logLevel: 'warn',
  plugins: [react()],
  resolve: {
    // The page uses the package by its entry points, here from source.
    alias: [
      { find: /^runsheet\/client$/, replacement: source('client/index.ts') },
      { find: /^runsheet\/react$/, replacement: source('ui/panels/index.ts') },
      { find: /^runsheet\/react\/styles\.css$/, replacement: source('ui/panels/styles.css') },
    ],
  },
  build: {
    outDir: '../../../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    // One chunk for the first load and one for what lazy parts share, without libraries: many small ones compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2, test: /[\\/](src|lucide-react)[\\/]/ },
          ],
        },
      },
    },
  },
})
