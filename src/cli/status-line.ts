import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from './clean-environment.ts'
import { sessionOnStdin } from './host-session.ts'
import { peekedPlans } from './status-peek.ts'
import { chosen, type PlanSource, placeOf, type StatusPlace } from './status-source.ts'
import { statusLine } from './status-text.ts'

// A separate entry without the command line library: a prompt or status bar waits for it on every redraw.

/** A prompt waits for at most this long. */
const MAX_MS = 2_000

/**
 * Prints the plan's state on one line and ends the process; `words` are the arguments after `status`. It must never
 * break a prompt: on any failure it prints an empty line, creates nothing and exits with 0.
 */
export async function printStatusLine(words: readonly string[], environment: Environment): Promise<never> {
  setTimeout(() => process.exit(0), MAX_MS)
  process.stdout.on('error', () => process.exit(0))
  const line = await lineFor(words, environment).catch(() => '')
  await new Promise(done => process.stdout.write(`${line}\n`, done))
  process.exit(0)
}

async function lineFor(words: readonly string[], environment: Environment): Promise<string> {
  const place = placeOf({ data: after(words, '--data'), store: after(words, '--store') }, environment)
  const named = after(words, '--session')
  const session = named === undefined ? await fromHost() : ({ id: named, by: 'option' } as const)
  const source = await plansAt(place)
  if (!source) return ''
  try {
    const found = await chosen(source, { ...place, session, environment, onlyActive: true })
    return found ? statusLine(found.plan) : ''
  } finally {
    await source.close()
  }
}

/** Prefers reading the database directly, which is fastest. */
async function plansAt(place: StatusPlace): Promise<PlanSource | undefined> {
  const isFile = place.store === 'sqlite' || place.store === 'file'
  if (isFile && !existsSync(join(place.data, 'runsheet.db'))) return undefined
  const peeked = isFile ? peekedPlans(place) : undefined
  if (peeked) return peeked
  const { openedForStatus, plansOf } = await import('./status-door.ts')
  const door = await openedForStatus(place)
  return door && plansOf(door)
}

async function fromHost(): Promise<{ readonly id: string; readonly by: 'stdin' } | undefined> {
  const id = await sessionOnStdin()
  return id === undefined ? undefined : { id, by: 'stdin' }
}

function after(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag)
  return at < 0 ? words.find(word => word.startsWith(`${flag}=`))?.slice(flag.length + 1) : words[at + 1]
}
