#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Where the installed program begins. An old Node must be able to read this file, so nothing else is imported by it.

/** With the code that it was made from: whoever can write there could change the code itself, and it goes with it. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))
/** A host may end us by a signal, and at such an end nothing is kept. */
const KEPT_AFTER_MS = 3_000

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `runsheet: this needs Node 24.15 or newer, and here is ${process.version}. Get it from nodejs.org or with your version manager.`,
  )
  process.exitCode = 1
} else {
  // Where it cannot be kept, that costs time and nothing else.
  module.enableCompileCache(CACHE)
  setTimeout(() => module.flushCompileCache(), KEPT_AFTER_MS).unref()
  await import('./main.ts')
}
