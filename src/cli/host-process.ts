import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Ancestor {
  readonly pid: number
  readonly parent: number
  readonly name: string
}

/** Hosts run commands through these. */
const SHELLS = /^(sh|bash|dash|ash|zsh|ksh|fish|busybox|cmd|cmd\.exe|powershell|powershell\.exe|pwsh|pwsh\.exe)$/
const MAX_ANCESTORS = 12
const PS_MS = 500

/** The processes above this one, nearest first. Only the parent if the system cannot be asked. */
export function ancestors(): readonly Ancestor[] {
  const look = process.platform === 'linux' ? fromProc : fromPs()
  const found: Ancestor[] = []
  for (let pid = process.ppid; pid > 1 && found.length < MAX_ANCESTORS; ) {
    const ancestor = look(pid) ?? { pid, parent: 0, name: '' }
    found.push(ancestor)
    pid = ancestor.parent
  }
  return found
}

/** The nearest ancestor that is not a shell. */
export const hostProcess = (): number =>
  ancestors().find(({ name }) => !SHELLS.test(name.replace(/^-/, '')))?.pid ?? process.ppid

export const hostsFolder = (data: string): string => join(data, 'hosts')

/** Named by the host's pid, which the hook and the MCP process both know as descendants of the host. */
export const hostFile = (data: string, host: number, suffix: string): string =>
  join(hostsFolder(data), `${host}.${suffix}`)

function fromProc(pid: number): Ancestor | undefined {
  try {
    // The name is in parentheses and may contain any character.
    const [, name = '', parent] = /^\d+ \((.*)\) \S+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return { pid, parent: Number(parent ?? 0), name }
  } catch {
    return undefined
  }
}

/** One `ps` for all processes: a call per ancestor would be slow. */
function fromPs(): (pid: number) => Ancestor | undefined {
  try {
    // Lazy import: every module delays the hook.
    const { execFileSync } = process.getBuiltinModule('node:child_process')
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], {
      encoding: 'utf8',
      timeout: PS_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const rows = table.split('\n').flatMap(line => {
      const [, pid, parent, path = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      const name = path.trim().split('/').at(-1) ?? ''
      return pid === undefined ? [] : [[Number(pid), { pid: Number(pid), parent: Number(parent), name }] as const]
    })
    const all = new Map(rows)
    return pid => all.get(pid)
  } catch {
    return () => undefined
  }
}
