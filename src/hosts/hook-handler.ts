import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../core/model/conversation.ts'
import { DIGEST_EVENTS, gateText, planDigest } from '../core/views/digest.ts'
import type { StoredEvent } from '../core/model/event.ts'
import { GATE_EVENTS, followedTasks, heldPlan } from '../core/views/gate.ts'
import type { Redactor } from '../core/text/redact.ts'
import { addEvidence, type Door, type Ref } from '../engine/door/door.ts'
import { MAX_HOOK_MS, SILENCE, type HookAnswer, type HookEvent, type HookFeatures } from './hook-event.ts'

interface HookDeps {
  readonly door: Door
  readonly ref: Ref
  readonly features: HookFeatures
  readonly notes: HookNotes
  readonly redact: Redactor
}

const MAX_EVENTS = 1_000

/**
 * Handles an event that a host delivered by tool call or socket. Hosts block on the answer, so it has a timeout. Tool
 * events have no answer: the host does not wait, and `onError` gets their failures.
 */
export async function deliverHook(
  event: HookEvent,
  { onError, ...deps }: HookDeps & { readonly onError: (error: unknown) => void },
): Promise<HookAnswer> {
  const work = handleHook(event, deps)
  if (event.kind !== 'tool') return Promise.race([work, delay(MAX_HOOK_MS, SILENCE, { ref: false })])
  // Not awaited: the writes keep their order.
  work.catch(onError)
  return SILENCE
}

/** Handles a host's event. Hooks read and add evidence; they never confirm or settle anything. */
export async function handleHook(event: HookEvent, deps: HookDeps): Promise<HookAnswer> {
  switch (event.kind) {
    case 'start':
    case 'prompt':
      return tellPlan(event, deps)
    case 'tool':
      return onTool(event, deps)
    case 'stop':
      return onStop(event, deps)
  }
}

type ReadingEvent = HookEvent & { readonly kind: 'start' | 'prompt' }

/**
 * Tells an agent the state of its plan: at session start, otherwise with the first prompt, and then whenever others
 * changed the plan.
 */
async function tellPlan(event: ReadingEvent, deps: HookDeps): Promise<HookAnswer> {
  const { session } = event
  const { door, ref, features, notes } = deps
  const state = await door.read(ref)
  const note = notes.read(session)
  if (event.kind === 'start') {
    notes.write({ ...note, told: state.seq })
    return features.digest ? told(state) : SILENCE
  }
  const isFirst = event.keepsDigest || note.told === undefined
  const seen = Math.max(note.told ?? 0, state.answered_seq)
  const isDue = features.digest && (isFirst || (state.seq > seen && (await hasNews(deps, seen))))
  // A prompt starts the host's turn.
  notes.write({ session, turn: event.turn, since: state.seq, told: isDue ? state.seq : note.told })
  return isDue ? told(state) : SILENCE
}

async function hasNews({ door, ref }: HookDeps, seq: number): Promise<boolean> {
  const events = await door.conversations.eventsAfter(ref, seq, MAX_EVENTS)
  return events.some(({ type }) => DIGEST_EVENTS.has(type))
}

function told(state: Conversation): HookAnswer {
  const text = planDigest(state)
  return text === '' ? SILENCE : { kind: 'context', text }
}

async function onTool({ call }: HookEvent & { kind: 'tool' }, deps: HookDeps): Promise<HookAnswer> {
  const { door, ref, features, redact } = deps
  const kept = { ...call, arguments: bounded(call.arguments), answer: bounded(call.answer) }
  if (features.evidence) await addEvidence(door, ref, kept, { source: 'host', redact })
  return SILENCE
}

/** Deeper values would overflow the stack of every recursive reader. */
const MAX_DEPTH = 200

function bounded(value: unknown): unknown {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return '(nested too deeply to be kept)'
    level = level.flatMap(each => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return value
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

/** The events of the host's current turn: matched by turn id, or logged since the turn began. */
async function eventsOfTurn({ door, ref }: HookDeps, turn: string | undefined, note: HookNote): Promise<StoredEvent[]> {
  const since = turn === undefined || note.turn === turn ? note.since : undefined
  const events = await door.conversations.events(ref, { types: GATE_EVENTS, last: MAX_EVENTS })
  return events.filter(
    event => (turn !== undefined && event.turn_id === turn) || (since !== undefined && event.seq > since),
  )
}

export interface HookNote {
  readonly session: string
  readonly turn?: string | undefined
  /** The log's `seq` when that turn began. */
  readonly since?: number | undefined
  /** The log's `seq` at the newest digest. */
  readonly told?: number | undefined
}

export interface HookNotes {
  read(session: string): HookNote
  write(note: HookNote): void
}

const MAX_SESSIONS = 100

export class ProcessNotes implements HookNotes {
  readonly #notes = new Map<string, HookNote>()

  read(session: string): HookNote {
    return this.#notes.get(session) ?? { session }
  }

  write(note: HookNote): void {
    this.#notes.delete(note.session)
    this.#notes.set(note.session, note)
    const [oldest] = this.#notes.keys()
    if (this.#notes.size > MAX_SESSIONS && oldest !== undefined) this.#notes.delete(oldest)
  }
}
