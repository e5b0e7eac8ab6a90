#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// The entry point of the installed program. It has no static imports of ours, so that an old Node can still run the
// version check.

/** Must match `engines` in package.json. */
const REQUIRED = [22, 16] as const

/** Inside the package, so that uninstalling removes it. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))
/** Node writes the cache only on a normal exit, and a host may end us with a signal. */
const FLUSH_AFTER_MS = 3_000

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [command = '', ...words] = process.argv.slice(2)
/** A host or a shell prompt blocks on these commands and must not see them fail. */
const isAwaited = command === 'hook' || (command === 'status' && words.includes('--line'))
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  if (isAwaited) process.exit(0)
  console.error(
    `runsheet: Node ${REQUIRED.join('.')} or newer is required, this is ${process.version}. Install it from nodejs.org or with a version manager.`,
  )
  process.exitCode = 1
} else {
  muteSqliteWarning()
  // A read-only folder only makes the start slower.
  module.enableCompileCache(COMPILE_CACHE)
  setTimeout(() => module.flushCompileCache(), FLUSH_AFTER_MS).unref()
  if (command === '--version' || command === '-V') console.log((await import('./invocation.ts')).version)
  else if (!isAwaited) await import('./main.ts')
  else if (command === 'hook') await (await import('./hook.ts')).runHook(words, process.env)
  else await (await import('./status-line.ts')).printStatusLine(words, process.env)
}

/** Node 22 prints an experimental warning for `node:sqlite` on every start. Our tests cover what we use of it. */
function muteSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) {
      Reflect.apply(emitWarning, process, [warning, ...rest])
    }
  }
}
