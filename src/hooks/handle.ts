import type { Conversation } from '../domain/conversation.ts'
import { DIGEST_EVENTS, gateText, planDigest } from '../domain/digest.ts'
import type { StoredEvent } from '../domain/event.ts'
import { followedTasks, GATE_EVENTS, heldPlan } from '../domain/gate.ts'
import type { Redactor } from '../domain/redact.ts'
import { addEvidence, type Door, type Ref } from '../door/door.ts'
import { type HookAnswer, type HookEvent, type HookFeatures, SILENCE } from './event.ts'

/** What is known of a host's session between its events. */
export interface HookNote {
  readonly session: string
  /** The host's turn. */
  readonly turn?: string | undefined
  /** The head of the log when that turn began. */
  readonly since?: number | undefined
  /** The head of the log of the newest digest. */
  readonly told?: number | undefined
}

/** Where that is kept: in the process, in a file, or by the host's plugin. */
export interface HookNotes {
  read(session: string): HookNote
  write(note: HookNote): void
}

export interface HookDeps {
  readonly door: Door
  readonly ref: Ref
  readonly features: HookFeatures
  readonly notes: HookNotes
  readonly redact: Redactor
}

/** How much of a log is read for the gate and for a digest. */
const MAX_EVENTS = 1_000

/** Acts on a host's event. It reads and adds evidence; it never confirms or settles anything. */
export async function handleHook(event: HookEvent, deps: HookDeps): Promise<HookAnswer> {
  switch (event.kind) {
    case 'start':
      return onStart(event, deps)
    case 'prompt':
      return onPrompt(event, deps)
    case 'tool':
      return onTool(event, deps)
    case 'stop':
      return onStop(event, deps)
  }
}

async function onStart({ session }: HookEvent, { door, ref, features, notes }: HookDeps): Promise<HookAnswer> {
  const state = await door.read(ref)
  notes.write({ ...notes.read(session), told: state.seq })
  return features.digest ? told(state) : SILENCE
}

/** Begins a turn of the host, and tells what others changed since the agent last saw the plan. */
async function onPrompt({ session, turn }: HookEvent, deps: HookDeps): Promise<HookAnswer> {
  const { door, ref, features, notes } = deps
  const state = await door.read(ref)
  const note = notes.read(session)
  const seen = Math.max(note.told ?? 0, state.answered_seq)
  const isNews = features.digest && state.seq > seen && (await hasNews(deps, seen))
  notes.write({ session, turn, since: state.seq, told: isNews ? state.seq : note.told })
  return isNews ? told(state) : SILENCE
}

async function onTool({ call }: HookEvent & { kind: 'tool' }, deps: HookDeps): Promise<HookAnswer> {
  const { door, ref, features, redact } = deps
  if (features.evidence) await addEvidence(door, ref, call, { source: 'host', redact })
  return SILENCE
}

async function onStop({ session, turn }: HookEvent, deps: HookDeps): Promise<HookAnswer> {
  const { door, ref, features, notes } = deps
  if (!features.gate) return SILENCE
  const events = await eventsOfTurn(deps, turn, notes.read(session))
  if (!heldPlan(await door.read(ref), events)) return SILENCE
  const { value } = await door.transact(ref, transaction => {
    const held = heldPlan(transaction.state, events)
    if (!held) return undefined
    const data = { follow_up: held.followUp, open: followedTasks(held.open) }
    transaction.mustRun({ type: 'record', turn_id: held.turn, fact: { type: 'gate_followed', data } })
    return gateText(held, transaction.state.policy?.toolset ?? 'runsheet')
  })
  return value === undefined ? SILENCE : { kind: 'block', reason: value }
}

/** What this turn of the host did: by its id, and since it began. */
async function eventsOfTurn({ door, ref }: HookDeps, turn: string | undefined, note: HookNote): Promise<StoredEvent[]> {
  const since = turn === undefined || note.turn === turn ? note.since : undefined
  const events = await door.conversations.events(ref, { types: GATE_EVENTS, last: MAX_EVENTS })
  return events.filter(
    event => (turn !== undefined && event.turn_id === turn) || (since !== undefined && event.seq > since),
  )
}

/** Whether somebody changed the plan after this seq. */
async function hasNews({ door, ref }: HookDeps, seq: number): Promise<boolean> {
  const events = await door.conversations.eventsAfter(ref, seq, MAX_EVENTS)
  return events.some(({ type }) => DIGEST_EVENTS.has(type))
}

function told(state: Conversation): HookAnswer {
  const text = planDigest(state)
  return text === '' ? SILENCE : { kind: 'context', text }
}
