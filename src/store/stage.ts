import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { type Instant, laterThan } from '../domain/instant.ts'
import { type Commit, commitOf } from './commit.ts'
import { StoreError } from './store-error.ts'
import type { At, Committed, Decide, Once } from './store.ts'

/** One caller of `commit`. */
export interface Call {
  readonly at: At
  readonly decide: Decide<unknown>
  readonly resolve: (committed: Committed<unknown>) => void
  readonly reject: (error: unknown) => void
}

/** What was answered under a key. */
export interface KeyRow {
  readonly key: string
  readonly bodyHash: string
  /** The answer as JSON. */
  readonly value: string
}

/** What a conversation holds besides its state, as far as the calls ask for it. */
export interface Ground {
  readonly state: Conversation
  readonly key: (key: string) => KeyRow | undefined
  /** The newest attempt at a turn. */
  readonly attempt: (turn: string) => number | undefined
  /** Whether the store may run a call again after a commit whose outcome it does not know. */
  readonly mayRetry?: boolean
}

/** What the calls of one group come to: one thing to write, and an answer for each once it is written. */
export interface Staged {
  readonly before: Conversation
  readonly after: Conversation
  readonly commits: readonly Commit[]
  readonly keys: readonly KeyRow[]
  /** Tells the callers that were turned down; they do not depend on the write. */
  readonly rejectRefused: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Decides the calls of one conversation, each on the state that the ones before it leave. Nothing is written here:
 * who throws drops out alone, and the rest is one write.
 */
export function stage(calls: readonly Call[], ground: Ground, clock: Instant): Staged {
  const commits: Commit[] = []
  const keys = new Map<string, KeyRow>()
  const answered: { call: Call; committed: Committed<unknown> }[] = []
  const refused: { call: Call; error: unknown }[] = []
  let state = ground.state
  for (const call of calls) {
    try {
      const { key, ...committed } = decided(
        call,
        { ...ground, state, key: key => keys.get(key) ?? ground.key(key) },
        clock,
      )
      const { events, conversation } = committed
      if (events.length > 0) commits.push(commitOf(events))
      state = conversation
      if (key) keys.set(key.key, key)
      answered.push({ call, committed })
    } catch (error) {
      refused.push({ call, error })
    }
  }
  return {
    before: ground.state,
    after: state,
    commits,
    keys: [...keys.values()],
    rejectRefused: () => {
      for (const { call, error } of refused) call.reject(error)
    },
    resolve: () => {
      for (const { call, committed } of answered) call.resolve(committed)
    },
    reject: error => {
      for (const { call } of answered) call.reject(error)
    },
  }
}

function decided(
  { at, decide }: Call,
  ground: Ground,
  clock: Instant,
): Committed<unknown> & { key?: KeyRow | undefined } {
  // Before the key: what another runner did under it is not for this one to go on from.
  if (at.lease && ground.attempt(at.lease.turn) !== at.lease.attempt) {
    throw new StoreError('fenced', `Turn ${at.lease.turn} is driven by another runner now.`)
  }
  const once = at.once?.isFresh && !ground.mayRetry ? undefined : at.once
  const known = once && ground.key(once.key)
  if (known) {
    if (known.bodyHash !== once.bodyHash) {
      throw new StoreError('key_conflict', `${once.key} was used already, with another request.`)
    }
    return { value: JSON.parse(known.value), events: [], conversation: ground.state, replayed: true }
  }
  const now = laterThan(ground.state.updated_at, clock)
  const decision = decide(ground.state, now)
  const { value } = decision
  if ('discard' in decision) return { value, events: [], conversation: ground.state, replayed: false }
  const events = stamped(ground.state, decision.events, now)
  return {
    value,
    events,
    conversation: decision.after ?? fold(ground.state, events),
    replayed: false,
    key: once && keyRow(once, value),
  }
}

function keyRow({ key, bodyHash }: Once, value: unknown): KeyRow {
  const text = JSON.stringify(value ?? null) as string | undefined
  if (text === undefined) throw new TypeError('The answer under an idempotency key must be JSON.')
  return { key, bodyHash, value: text }
}
