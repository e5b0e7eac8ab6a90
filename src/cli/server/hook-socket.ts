import { lstatSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { HookCommand } from '../hook-event.ts'

// A command hook asks the host's MCP process, which listens on a socket. The command sends a line with its request, then
// the host's payload.

/** Bump when the protocol changes: processes of different versions then do not find each other. */
const FORM = 1

export const HAS_SOCKETS = process.platform !== 'win32'

/** Longer payloads are ignored. */
export const MAX_PAYLOAD = 8 * 1024 * 1024

export const hookSocket = (data: string, host: number): string => hostFile(data, host, `v${FORM}.sock`)

/** Undefined if no MCP process answers; '' if it has nothing to say. */
export function askMcpProcess(data: string, command: HookCommand, payload: string): Promise<string | undefined> {
  const path = socketOfHost(data)
  if (path === undefined) return Promise.resolve(undefined)
  return new Promise(resolve => {
    let answer: string | undefined
    const socket = connect(path, () => {
      answer = ''
      socket.end(`${JSON.stringify(command)}\n${payload}`)
    })
    socket.setEncoding('utf8').on('data', text => (answer += String(text)))
    // No retry after an error: the request may have taken effect. A partial answer counts as none.
    socket.on('error', () => {}).once('close', () => resolve(answer?.endsWith('\n') === false ? '' : answer))
  })
}

/** Tries the parent first: walking up the process tree is slow on some systems. */
function socketOfHost(data: string): string | undefined {
  if (!HAS_SOCKETS) return undefined
  const ofParent = hookSocket(data, process.ppid)
  if (isOwn(ofParent)) return ofParent
  const ofHost = hookSocket(data, hostProcess())
  return isOwn(ofHost) ? ofHost : undefined
}

/** Must belong to this user: its answers are passed to the host. */
function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isSocket() && found.uid === process.getuid?.()
}

interface Ancestor {
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
