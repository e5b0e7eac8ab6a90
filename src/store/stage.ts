import { setImmediate } from 'node:timers/promises'
import { emptyConversation, fold, stamped, type Conversation } from '../core/model/conversation.ts'
import { laterThan, type Instant } from '../core/model/instant.ts'
import { commitOf, refKey, type At, type Commit, type Committed, type Decide, type Once, type Ref } from './store.ts'
import { StoreError } from './store-error.ts'

export interface Call {
  readonly at: At
  readonly decide: Decide<unknown>
  readonly resolve: (committed: Committed<unknown>) => void
  readonly reject: (error: unknown) => void
}

/** Makes a call of a commit, for a store that collects them. */
export const called = <T>(at: At, decide: Decide<T>, add: (call: Call) => void): Promise<Committed<T>> =>
  new Promise((resolve, reject) => add({ at, decide, resolve: resolve as Call['resolve'], reject }))

export const byConversation = (calls: readonly Call[]): { readonly ref: Ref; readonly calls: readonly Call[] }[] =>
  [...Map.groupBy(calls, ({ at }) => refKey(at)).values()].flatMap(group => {
    const [first] = group
    return first ? [{ ref: { tenant: first.at.tenant, conversation: first.at.conversation }, calls: group }] : []
  })

export interface KeyRow {
  readonly key: string
  readonly bodyHash: string
  readonly value: string
}

export interface Basis {
  readonly state: Conversation
  readonly key: (key: string) => KeyRow | undefined
  readonly attempt: (turn: string) => number | undefined
}

export interface Staged {
  readonly before: Conversation
  readonly after: Conversation
  readonly commits: readonly Commit[]
  readonly keys: readonly KeyRow[]
  /** Rejects the calls that threw. Independent of the write. */
  readonly rejectRefused: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Decides the calls of one conversation, each on the state after the ones before it, without writing. A call that
 * throws fails alone; the rest becomes one write.
 */
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
  // Check the fence before the key: a fenced worker must not continue from another worker's answer under the same key.
  if (at.lease && basis.attempt(at.lease.turn) !== at.lease.attempt) {
    throw new StoreError('fenced', `Turn ${at.lease.turn} is driven by another runner now.`)
  }
  const { once } = at
  const known = once && basis.key(once.key)
  if (known) {
    if (known.bodyHash !== once.bodyHash) {
      throw new StoreError('key_conflict', `${once.key} was already used with a different request.`)
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

/** Calls per group: keeps one flush short under load. */
const MAX_CALLS = 500
/** How long groups may run back to back before the event loop gets a turn. */
const MAX_RUN_MS = 2
/** Microtasks that a caller needs between an answer and its next call. */
const MICROTASKS = 5

/** Answers all calls itself and never rejects. No call arrived before `since` (`performance.now()`). */
type Serve<C> = (calls: readonly C[], since: number) => Promise<void> | undefined

/** Collects the calls of one event loop turn and serves them together, one group at a time. */
export class Group<C> {
  readonly #serve: Serve<C>
  readonly #onIdle: () => void
  #waiting: C[] = []
  #since = 0
  #busy: Promise<void> | undefined

  constructor(serve: Serve<C>, onIdle: () => void = () => {}) {
    this.#serve = serve
    this.#onIdle = onIdle
  }

  add(call: C): void {
    if (this.#waiting.length === 0) this.#since = performance.now()
    this.#waiting.push(call)
    this.#busy ??= this.#run()
  }

  async idle(): Promise<void> {
    while (this.#busy) await this.#busy
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await setImmediate()
        const turn = performance.now()
        do {
          await this.#serve(this.#waiting.splice(0, MAX_CALLS), this.#since)
          // A caller that works through a list calls again immediately; serve that call in the same turn.
          for (let hop = 0; hop < MICROTASKS; hop += 1) await Promise.resolve()
        } while (this.#waiting.length > 0 && performance.now() - turn < MAX_RUN_MS)
      }
    } finally {
      this.#busy = undefined
      this.#onIdle()
    }
  }
}

/** Events per piece; a larger commit stays whole. */
const PIECE = 200

/** Splits a log into pieces, to be written in order and in one transaction. Only one piece is in memory at a time. */
export function* piecesOf({ conversation }: Ref, commits: Iterable<Commit>): Generator<Staged> {
  let before = emptyConversation(conversation)
  let some: Commit[] = []
  let size = 0
  const piece = (): Staged => {
    const after = some.reduce((state, { events }) => fold(state, events), before)
    const staged = { before, after, commits: some, keys: [], rejectRefused: none, resolve: none, reject: none }
    before = after
    some = []
    size = 0
    return staged
  }
  for (const commit of commits) {
    some.push(commit)
    size += commit.events.length
    if (size >= PIECE) yield piece()
  }
  if (size > 0) yield piece()
}

/** A log is imported whole or not at all. */
export const logExists = (): StoreError =>
  new StoreError('id_taken', 'There is a conversation with this id already; nothing was written.')

const none = (): void => {}
