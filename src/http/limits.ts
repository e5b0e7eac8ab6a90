import type { Caller, Role } from './credentials.ts'
import { HttpError } from './http-error.ts'
import { credentialOf, Quota, type Release, type Shortage } from './quota.ts'
import { Rate } from './rate.ts'
import { Rounds } from './rounds.ts'

/** Server-wide limits, shared by all callers, and rate limits for agents. */
export interface LimitOptions {
  /** Open event streams, including those of MCP. Default 2,000. */
  readonly maxStreams?: number
  /** Tool calls that wait for a person at the same time; further calls are answered at once. Default 2,000. */
  readonly maxWaitingCalls?: number
  /** Bytes of request bodies in progress and of unread answers. Default 64 MiB. */
  readonly maxBytesInFlight?: number
  /** Writes per minute and agent. Default 600. */
  readonly agentWritesPerMinute?: number
  /** Reads per minute and agent. Default 6,000. */
  readonly agentReadsPerMinute?: number
}

export type Limited = 'streams' | 'waiting_calls' | 'bytes' | 'writes' | 'reads'
/** `none`: a request without a credential. */
export type Refused = Role | 'none'

/** Reports a stream's unread bytes; 0 releases them. Returns false if they exceed the quota. */
export type Backlog = (bytes: number) => boolean

/**
 * Keeps one caller from using up the server: agents cannot starve people, and a runaway agent cannot fill memory or
 * disk, or flood a person with reviews.
 */
export class Limits {
  readonly #streams: Quota
  readonly #waiting: Quota
  readonly #bytes: Quota
  /** Separate quotas for requests without a credential, so that they never block authenticated callers. */
  readonly #anonymous: Readonly<Record<Part, Quota>>
  readonly #writes: Rate
  readonly #reads: Rate
  readonly #rounds = new Rounds()
  readonly #onRefused: (what: Limited, role: Refused) => void

  constructor(options: LimitOptions = {}, onRefused: (what: Limited, role: Refused) => void = () => {}) {
    const bytes = options.maxBytesInFlight ?? 64 * 1024 * 1024
    this.#streams = new Quota(options.maxStreams ?? 2_000)
    this.#waiting = new Quota(options.maxWaitingCalls ?? 2_000)
    this.#bytes = new Quota(bytes)
    this.#anonymous = { body: new Quota(bytes / 16), answer: new Quota(bytes / 16) }
    this.#writes = new Rate(options.agentWritesPerMinute ?? 600)
    this.#reads = new Rate(options.agentReadsPerMinute ?? 6_000)
    this.#onRefused = onRefused
  }

  /** Throws 429 if an agent exceeds its rate; people are not limited. */
  request(caller: Caller, kind: 'writes' | 'reads'): void {
    if (caller.role === 'person') return
    const rate = kind === 'writes' ? this.#writes : this.#reads
    const waitMs = rate.count(credentialOf(caller))
    if (waitMs === undefined) return
    const seconds = Math.ceil(waitMs / 1_000)
    const message = `Too many ${kind}: an agent may make ${shown(rate.perMinute)} a minute. Try again in ${seconds} s.`
    throw this.#refused(kind, caller.role, 429, 'rate_limited', message, seconds)
  }

  /** Resolves immediately for people; agents take turns. */
  turn(caller: Caller | undefined): Promise<void> | undefined {
    return caller?.role === 'agent' ? this.#rounds.turn() : undefined
  }

  /** Throws 429 or 503 if this caller has no stream left. */
  stream(caller: Caller): Release {
    const shortage = this.#streams.shortage(caller)
    if (!shortage) return this.#streams.take(caller)
    const message = `${taken(shortage, 'event streams', this.#streams.total)} Close one, or try again in a moment.`
    throw this.#refused('streams', caller.role, statusOf(shortage), 'too_many_streams', message, RETRY_STREAM_S)
  }

  /** Undefined if this caller has no slot left. */
  wait(caller: Caller): Release | undefined {
    if (!this.#waiting.shortage(caller)) return this.#waiting.take(caller)
    this.#onRefused('waiting_calls', caller.role)
    return undefined
  }

  body(caller: Caller | undefined, bytes: number): Release {
    const quota = caller ? this.#bytes : this.#anonymous.body
    this.#check(quota, caller, bytes)
    return quota.take(caller ?? ANYONE, bytes)
  }

  /**
   * Holds quota until the client has read the answer. Throws if there is no room, unless the answer `mustBeSent`: a
   * write's answer reports what was committed.
   */
  answer(caller: Caller | undefined, bytes: number, mustBeSent: boolean): Release {
    if (bytes <= SMALL_ANSWER) return () => {}
    const quota = caller ? this.#bytes : this.#anonymous.answer
    if (!mustBeSent) this.#checkAnswer(quota, caller, bytes)
    return quota.take(caller ?? ANYONE, bytes)
  }

  /** Counts a stream's unread bytes. For people only the stream's own buffer limit applies. */
  backlog(caller: Caller): Backlog {
    let release: Release = () => {}
    return bytes => {
      release()
      if (bytes === 0) return true
      const hasRoom = caller.role === 'person' || !this.#bytes.shortage(caller, bytes)
      if (hasRoom) release = this.#bytes.take(caller, bytes)
      else this.#onRefused('bytes', caller.role)
      return hasRoom
    }
  }

  #check(quota: Quota, caller: Caller | undefined, bytes: number): void {
    const shortage = quota.shortage(caller ?? ANYONE, bytes)
    if (!shortage) return
    const message = `${caller ? tooMuch(shortage, quota.total) : TOO_MANY_ANONYMOUS} Try again in a moment.`
    throw this.#refused('bytes', caller?.role ?? 'none', statusOf(shortage), 'too_many_bytes', message, RETRY_BYTES_S)
  }

  #checkAnswer(quota: Quota, caller: Caller | undefined, bytes: number): void {
    // A person can open a conversation of any size.
    if (caller?.role !== 'agent') return this.#check(quota, caller, Math.min(bytes, quota.total / 16))
    const most = quota.mostFor(caller)
    if (bytes <= most) return this.#check(quota, caller, bytes)
    this.#onRefused('bytes', caller.role)
    const message = `This answer has ${shownBytes(bytes)}, and an agent may read ${shownBytes(most)} at once. Read the conversation in parts: its tasks, and its events.`
    throw new HttpError(403, 'answer_too_large', message)
  }

  #refused(what: Limited, role: Refused, status: number, code: string, message: string, afterS: number): HttpError {
    this.#onRefused(what, role)
    return new HttpError(status, code, message, { headers: { 'retry-after': String(afterS) } })
  }
}

type Part = 'body' | 'answer'

/** Stands in for all callers without a credential, within the anonymous quotas. */
const ANYONE: Caller = { role: 'person', tenant: '' }

/** Smaller answers are not counted: they fit into the socket buffers. */
const SMALL_ANSWER = 4 * 1024

/** Streams are long-lived; bodies arrive quickly. */
const RETRY_STREAM_S = 5
const RETRY_BYTES_S = 1

/** 429 if the callers can fix it themselves, 503 if the whole server is full. */
const statusOf = ({ of }: Shortage): number => (of === 'agents' || of === 'caller' ? 429 : 503)

function taken({ of, limit }: Shortage, what: string, total: number): string {
  if (of === 'server') return `All ${shown(total)} ${what} of this server are taken.`
  if (of === 'reserve') return `The last ${shown(limit)} ${what} of this server are for people who have none.`
  const who = of === 'agents' ? 'Agents' : 'One caller'
  return `${who} may take ${shown(limit)} of the ${shown(total)} ${what} of this server, and all are taken.`
}

function tooMuch({ of, limit }: Shortage, total: number): string {
  if (of === 'agents') return `Agents are sending and reading too much at once (limit ${shownBytes(limit)}).`
  if (of === 'caller') return `This caller is sending and reading too much at once (limit ${shownBytes(limit)}).`
  return `All callers together are sending and reading too much at once (limit ${shownBytes(total)}).`
}

const TOO_MANY_ANONYMOUS = 'Too many requests without a token at once.'

const shown = (count: number): string => count.toLocaleString('en')

const shownBytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${shown(Math.ceil(bytes / 1024))} kB` : `${shown(Math.round(bytes / 104_857.6) / 10)} MB`
