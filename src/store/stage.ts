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

/** The stored answer of an idempotency key. */
export interface KeyRow {
  readonly key: string
  readonly bodyHash: string
  /** The answer as JSON. */
  readonly value: string
}

/** What the calls on one conversation are decided on. */
export interface Basis {
  readonly state: Conversation
  readonly key: (key: string) => KeyRow | undefined
  /** The newest attempt (lease) of a turn. */
  readonly attempt: (turn: string) => number | undefined
  /** Whether the store retries a commit whose outcome is unknown. */
  readonly mayRetry?: boolean
}

/** The decided calls of one batch: one write, and an answer for each call once it is durable. */
export interface Staged {
  readonly before: Conversation
  readonly after: Conversation
  readonly commits: readonly Commit[]
  readonly keys: readonly KeyRow[]
  /** Rejects the refused calls; they do not depend on the write. */
  readonly rejectRefused: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Decides the calls on one conversation, each on the state after the previous one. A call that throws fails alone. */
export function stage(calls: readonly Call[], basis: Basis, clock: Instant): Staged {
  const commits: Commit[] = []
  const keys = new Map<string, KeyRow>()
  const answered: { call: Call; committed: Committed<unknown> }[] = []
  const refused: { call: Call; error: unknown }[] = []
  let state = basis.state
  for (const call of calls) {
    try {
      const { key, ...committed } = decided(
        call,
        { ...basis, state, key: key => keys.get(key) ?? basis.key(key) },
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
    before: basis.state,
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
  basis: Basis,
  clock: Instant,
): Committed<unknown> & { key?: KeyRow | undefined } {
  // Before the key: a fenced runner must not continue from another runner's answer.
  if (at.lease && basis.attempt(at.lease.turn) !== at.lease.attempt) {
    throw new StoreError('fenced', `Another runner drives turn ${at.lease.turn} now.`)
  }
  const once = at.once?.isFresh && !basis.mayRetry ? undefined : at.once
  const known = once && basis.key(once.key)
  if (known) {
    if (known.bodyHash !== once.bodyHash) {
      throw new StoreError('key_conflict', `The key ${once.key} was already used with a different request.`)
    }
    return { value: JSON.parse(known.value), events: [], conversation: basis.state, replayed: true }
  }
  const now = laterThan(basis.state.updated_at, clock)
  const decision = decide(basis.state, now)
  const { value } = decision
  if ('discard' in decision) return { value, events: [], conversation: basis.state, replayed: false }
  const events = stamped(basis.state, decision.events, now)
  return {
    value,
    events,
    conversation: decision.after ?? fold(basis.state, events),
    replayed: false,
    key: once && keyRow(once, value),
  }
}

function keyRow({ key, bodyHash }: Once, value: unknown): KeyRow {
  const text = JSON.stringify(value ?? null) as string | undefined
  if (text === undefined) throw new TypeError('The answer under an idempotency key must be JSON.')
  return { key, bodyHash, value: text }
}
