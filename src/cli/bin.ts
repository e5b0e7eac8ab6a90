#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// The entry point of the installed program. It imports nothing of ours statically, so that an old Node can run the check.

/** As in `engines` of package.json. */
const REQUIRED = [22, 16] as const

/** Next to the code it was compiled from, so that it is removed with it. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))
/** Node writes the cache on a normal exit only, and a host may end us with a signal. */
const FLUSH_AFTER_MS = 3_000

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [command = '', ...words] = process.argv.slice(2)
/** A host or a prompt waits for these, and must not see them fail. */
const isAwaited = command === 'hook' || (command === 'status' && words.includes('--line'))
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  if (isAwaited) process.exit(0)
  console.error(
    `runsheet: Node ${REQUIRED.join('.')} or newer is required, this is ${process.version}. Install it from nodejs.org or with a version manager.`,
  )
  process.exitCode = 1
} else {
  muteSqliteWarning()
  // Without a writable folder, starting is merely slower.
  module.enableCompileCache(COMPILE_CACHE)
  setTimeout(() => module.flushCompileCache(), FLUSH_AFTER_MS).unref()
  if (!isAwaited) await import('./main.ts')
  else if (command === 'hook') await (await import('./hook.ts')).runHook(words, process.env)
  else await (await import('./status-line.ts')).printStatusLine(words, process.env)
}

/** Node 22 calls `node:sqlite` experimental with each start. We test what we use of it there. */
function muteSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) {
      Reflect.apply(emitWarning, process, [warning, ...rest])
    }
  }
}
