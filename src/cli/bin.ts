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
const isHook = process.argv[2] === 'hook'
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  // A hook that fails would get in the way of its host.
  if (isHook) process.exit(0)
  console.error(
    `runsheet: Node ${REQUIRED.join('.')} or newer is required, this is ${process.version}. Install it from nodejs.org or with a version manager.`,
  )
  process.exitCode = 1
} else {
  muteSqliteWarning()
  // Without a writable folder, starting is merely slower.
  module.enableCompileCache(COMPILE_CACHE)
  setTimeout(() => module.flushCompileCache(), FLUSH_AFTER_MS).unref()
  if (isHook) await (await import('./hook.ts')).runHook(process.argv.slice(3), process.env)
  else await import('./main.ts')
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
