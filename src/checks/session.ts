import { readdirSync, readFileSync } from 'node:fs'

/**
 * Sends SIGTERM to every process of a session, given its leader. Most are in the leader's group; `timeout` and shells
 * with job control create their own groups, found through /proc. A process with its own session is a daemon and stays.
 */
export function terminateSession(leader: number): void {
  send(-leader, 'SIGTERM')
  for (const { pid, group } of membersOf(leader).members) if (group !== leader) send(pid, 'SIGTERM')
}

/** Kills every process of a session, including those that fork or leave the group meanwhile. */
export function killSession(leader: number): void {
  send(-leader, 'SIGKILL')
  const killed = new Set<number>()
  for (let pass = 1; ; pass += 1) {
    const { members, isWhole } = membersOf(leader)
    const others = members.filter(({ pid }) => !killed.has(pid))
    for (const { pid } of others) {
      killed.add(pid)
      send(pid, 'SIGKILL')
    }
    if (others.length === 0 && (isWhole || pass >= MAX_UNSURE)) return
  }
}

/** On a busy machine, some process ends during every pass. */
const MAX_UNSURE = 3

interface Member {
  readonly pid: number
  readonly group: number
}

/** Processes of a session. `isWhole` is false if any process ended meanwhile, because it may have left a child. */
function membersOf(leader: number): { members: readonly Member[]; isWhole: boolean } {
  const all = processIds().map(pid => ({ pid: Number(pid), fields: fieldsOf(pid) }))
  const members = all.flatMap(({ pid, fields: [state, , group, session] = [] }) =>
    Number(session) === leader && state !== 'Z' ? [{ pid, group: Number(group) }] : [],
  )
  return { members, isWhole: all.every(({ fields }) => fields) }
}

/** Empty without /proc. */
function processIds(): readonly string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** State, parent, group, session. They follow the name, which is in parentheses and may contain anything. */
function fieldsOf(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4)
  } catch {
    return undefined
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already ended, or owned by another user.
  }
}
