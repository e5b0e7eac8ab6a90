// Loaded before a command (`--import`): kills it instead of the nth rename, or link, of a file.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

let left = Number(process.env['KILL_AT_RENAME'])
for (const name of ['renameSync', 'linkSync', 'rmSync'] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
      return original(...args)
    },
  })
}
syncBuiltinESMExports()
