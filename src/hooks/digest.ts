import type { Conversation } from '../domain/conversation.ts'
import { DIGEST_EVENTS, planDigest } from '../domain/digest.ts'
import type { StoredEvent } from '../domain/event.ts'
import { type HookAnswer, type HookEvent, type HookFeatures, SILENCE } from './event.ts'
import type { HookNotes } from './notes.ts'

export interface PlanLog {
  state(): Conversation | Promise<Conversation>
  eventsAfter(seq: number, limit: number): readonly StoredEvent[] | Promise<readonly StoredEvent[]>
}

interface DigestDeps {
  readonly log: PlanLog
  readonly features: Pick<HookFeatures, 'digest'>
  readonly notes: HookNotes
}

type ReadingEvent = HookEvent & { readonly kind: 'start' | 'prompt' }

const MAX_EVENTS = 1_000

/**
 * Tells an agent the state of its plan: at session start, otherwise with the first prompt, and then whenever others
 * changed the plan.
 */
export async function tellPlan(event: ReadingEvent, { log, features, notes }: DigestDeps): Promise<HookAnswer> {
  const { session } = event
  const state = await log.state()
  const note = notes.read(session)
  if (event.kind === 'start') {
    notes.write({ ...note, told: state.seq })
    return features.digest ? told(state) : SILENCE
  }
  const isFirst = event.keepsDigest || note.told === undefined
  const seen = Math.max(note.told ?? 0, state.answered_seq)
  const isDue = features.digest && (isFirst || (state.seq > seen && (await hasNews(log, seen))))
  // A prompt starts the host's turn.
  notes.write({ session, turn: event.turn, since: state.seq, told: isDue ? state.seq : note.told })
  return isDue ? told(state) : SILENCE
}

async function hasNews(log: PlanLog, seq: number): Promise<boolean> {
  return (await log.eventsAfter(seq, MAX_EVENTS)).some(({ type }) => DIGEST_EVENTS.has(type))
}

function told(state: Conversation): HookAnswer {
  const text = planDigest(state)
  return text === '' ? SILENCE : { kind: 'context', text }
}
