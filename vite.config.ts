import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The page: everything that it needs comes from our own origin. */
export default defineConfig({
  root: 'web',
  base: './',
  logLevel: 'warn',
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
  },
})
